"""The one place that reads the environment.

Every field is `SANDTABLE_<NAME>`; docs/settings.md is generated from here (`make docs`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


def _default_home() -> Path:
    return Path("~/.local/share/sandtable").expanduser()


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix="SANDTABLE_",
        env_ignore_empty=True,
        frozen=True,
        extra="ignore",
        use_attribute_docstrings=True,
    )

    home: Path = Field(default_factory=_default_home)
    """Where runs, capsules, keys and converted data are kept."""

    datasets: Path | None = None
    """Folder with another `registry.json`; the three built-in datasets when unset."""

    host: str = "127.0.0.1"
    """Address that `sandtable serve` listens on."""

    port: int = Field(default=8000, ge=0, le=65535)
    """Port that `sandtable serve` listens on."""

    backend: Literal["auto", "local", "multiprocessing"] = Field(
        default="auto", validation_alias=AliasChoices("SANDTABLE_BACKEND", "SANDBOX_FORCE_BACKEND")
    )
    """Which sandbox runs jobs. There is one so far, so all three words mean the local sandbox."""

    isolation: Literal["auto", "landlock"] = "auto"
    """`landlock` uses Landlock and seccomp alone, even where namespaces work."""

    timeout_s: float = Field(
        default=30.0, gt=0, le=3600, validation_alias=AliasChoices("SANDTABLE_TIMEOUT_S", "SANDBOX_TIMEOUT")
    )
    """Wall-clock limit of one run, in seconds."""

    memory_mb: int = Field(default=1024, ge=64)
    """Memory limit of one run, in MiB."""

    tmp_mb: int = Field(default=256, ge=0)
    """Scratch space of one run, in MiB."""

    threads: int = Field(default=0, ge=0)
    """Threads a run may use on large data; 0 means one per core."""

    max_rows: int = Field(default=200, ge=1, le=100_000)
    """Rows an answer may hold."""

    max_result_bytes: int = Field(default=4 << 20, ge=1024)
    """Bytes an answer may hold."""

    max_sql_bytes: int = Field(default=64 << 10, ge=256)
    """Longest SQL text the gate looks at."""

    concurrency: int = Field(default=4, ge=1)
    """Runs executed at the same time."""

    queue_limit: int = Field(default=10_000, ge=1)
    """Runs that may wait; more are refused at the door."""

    standby: int = Field(default=2, ge=0)
    """Sandboxes kept ready before a dataset is known."""

    presealed: int = Field(default=2, ge=0)
    """Sandboxes kept ready for each dataset in use."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severe level that is logged."""

    @field_validator("home", "datasets")
    @classmethod
    def _from_the_root(cls, path: Path | None) -> Path | None:
        """A sandbox and a restarted server have other current folders."""
        return path and path.expanduser().absolute()
