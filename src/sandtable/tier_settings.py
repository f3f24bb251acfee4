"""The settings about where runs are executed, as a part of `settings.Settings`.

Every field is `SANDTABLE_<NAME>`; this module reads no environment.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field, SecretStr
from pydantic_settings import BaseSettings


class TierSettings(BaseSettings):
    backend: Literal["auto", "local", "multiprocessing", "docker", "kubernetes", "remote"] = Field(
        default="auto", validation_alias=AliasChoices("SANDTABLE_BACKEND", "SANDBOX_FORCE_BACKEND")
    )
    """Where runs are executed: `local` (`multiprocessing` means the same) is the sandbox of this machine, `docker`
    a container for each run, `kubernetes` a Job for each run, `remote` a `sandtable execd` elsewhere. `auto` is
    `local`, and `docker` on a machine that cannot isolate by itself."""

    prefer_docker: bool = Field(
        default=False, validation_alias=AliasChoices("SANDTABLE_PREFER_DOCKER", "SANDBOX_PREFER_DOCKER")
    )
    """With `auto`: use Docker if its daemon responds, and the local sandbox only if it does not."""

    docker_host: str | None = Field(
        default=None, validation_alias=AliasChoices("SANDTABLE_DOCKER_HOST", "DOCKER_HOST")
    )
    """Socket of Docker or Podman, such as `unix:///run/user/1000/podman/podman.sock`; searched for in the usual
    places when unset."""

    docker_image: str = Field(
        default="sandtable-runner:dev",
        validation_alias=AliasChoices("SANDTABLE_DOCKER_IMAGE", "SANDBOX_DOCKER_IMAGE"),
    )
    """Image of the containers that run jobs."""

    docker_runtime: str | None = None
    """Another container runtime, such as `runsc` (gVisor); the daemon's default when unset."""

    docker_warm: int = Field(default=2, ge=0, le=64)
    """Containers kept ready for each dataset in use."""

    docker_data: Literal["bind", "baked"] = "bind"
    """Where a container finds its dataset: `bind` mounts the folder of this home, which the daemon must be able to
    see under the same path; `baked` is in the image."""

    kubernetes_namespace: str | None = None
    """Namespace of the runners' Jobs; the one of this pod, or `sandtable-runners`, when unset."""

    kubeconfig: str | None = Field(
        default=None, validation_alias=AliasChoices("SANDTABLE_KUBECONFIG", "KUBECONFIG")
    )
    """Kubeconfig file, or several separated by colons; not needed inside a cluster."""

    kubernetes_service_host: str | None = Field(
        default=None,
        validation_alias=AliasChoices("SANDTABLE_KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_HOST"),
    )
    """Address of the cluster's API inside the cluster; set in every pod."""

    kubernetes_service_port: int = Field(
        default=443,
        validation_alias=AliasChoices("SANDTABLE_KUBERNETES_SERVICE_PORT", "KUBERNETES_SERVICE_PORT"),
    )
    """Port of the cluster's API inside the cluster."""

    kubernetes_instance: str = Field(default="sandtable", pattern=r"^[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?$")
    """Which installation a Job belongs to, the same for all its servers: two installations that share a namespace
    need different ones."""

    kubernetes_image: str = "sandtable-runner:dev"
    """Image of the Jobs, for the built-in Job template."""

    kubernetes_template: Path | None = None
    """File with the Job that every run is made from, as JSON; a built-in one when unset."""

    kubernetes_warm: int = Field(default=0, ge=0, le=64)
    """Pods kept ready, each for one run; with 0 every run waits for its own Job to start."""

    execd_url: str | None = None
    """Address of the `sandtable execd` that executes runs, for the backend `remote`."""

    execd_token: SecretStr | None = None
    """Secret that the server and `sandtable execd` share and prove to each other: 32 characters or more."""

    execd_host: str = "127.0.0.1"
    """Address that `sandtable execd` listens on."""

    execd_port: int = Field(default=8400, ge=0, le=65535)
    """Port that `sandtable execd` listens on."""
