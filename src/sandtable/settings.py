"""The one place that reads the environment.

Every field is `SANDTABLE_<NAME>`; docs/settings.md is generated from here (`make docs`).
"""

from __future__ import annotations

import os
import re
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from sandtable.account_settings import AccountSettings, listed
from sandtable.tier_settings import TierSettings

_HOST_NAME = re.compile(r"(?:\*\.|\.)?[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?")


def _default_home() -> Path:
    return Path("~/.local/share/sandtable").expanduser()


def _host(given: str) -> str:
    """A host name in lower case, or an IP address in its usual form; raises ValueError."""
    try:
        return str(ip_address(given.strip("[]")))
    except ValueError:
        name = given.lower().removesuffix(".")
    if name != "*" and not _HOST_NAME.fullmatch(name):
        raise ValueError(
            f"`{given}` is no host name: write `data.example.org`, without scheme, port and path"
        )
    return name


class Settings(TierSettings, AccountSettings):
    model_config = SettingsConfigDict(
        env_prefix="SANDTABLE_",
        env_ignore_empty=True,
        frozen=True,
        extra="ignore",
    )

    home: Path = Field(default_factory=_default_home)
    """Where runs, capsules, keys and converted data are kept."""

    database_url: SecretStr | None = None
    """Address of a Postgres database, `postgresql://user:password@host:5432/name`, that keeps runs, capsules and
    conversations, for one server or several; SQLite files in the home when unset."""

    signing_key: Path | None = None
    """File with the Ed25519 private key (PEM) that capsules are signed with, for servers with separate homes that
    share a database; a key in the home, created on first use, when unset."""

    prefork_s: int = Field(default=300, ge=0, le=3600)
    """Seconds that a process with loaded modules waits for the next brief command, which then starts at once (Linux);
    0 starts none and uses none. None is started where `CI` is set."""

    datasets: Path | None = None
    """Folder with another `registry.json`; the three built-in datasets when unset."""

    reader: bool = True
    """Whether the built-in planner uses its learned reader, where the extra `reader` is installed."""

    planners: int | None = Field(default=None, ge=0, le=64)
    """Processes in which `sandtable serve` plans questions with the learned reader, each with a copy of it; with 0 it
    plans them itself. When unset, two on a machine with more than two cores, else one."""

    web: Path | None = None
    """Folder with another build of the web interface, for its developers; the one in the package when unset."""

    host: str = "127.0.0.1"
    """Address that `sandtable serve` listens on."""

    port: int = Field(default=8000, ge=0, le=65535)
    """Port that `sandtable serve` listens on."""

    grace_s: int = Field(default=10, ge=1, le=600)
    """Seconds that `sandtable serve` has after SIGTERM to finish the answers and runs that are under way."""
    a2a: bool = False
    """Whether `sandtable serve` also opens the two ports on which A2A clients expect an agent; under `/a2a` of its own
    port it answers them anyway. Needs the extra `a2a`."""

    a2a_port: int = Field(default=8001, ge=0, le=65535)
    """Port for A2A's JSON-RPC, at `/messages`."""

    a2a_grpc_port: int = Field(default=50051, ge=0, le=65535)
    """Port for A2A's gRPC."""

    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = ()
    """Host names and addresses, separated by commas, that `sandtable serve` accepts requests for besides `localhost`,
    the loopback addresses and the address it is reached at. `.example.org` means every name below `example.org`; `*`
    switches the check off, and with it the protection against DNS rebinding."""

    trusted_proxies: Annotated[tuple[IPv4Network | IPv6Network, ...], NoDecode] = ()
    """Addresses and networks (`10.0.0.7`, `10.1.0.0/16`), separated by commas, of the proxies that sign people in.
    Only from these are `X-Sandtable-User`, `X-Forwarded-For`, `X-Forwarded-Host` and `X-Forwarded-Proto` used, and only
    these and the machine itself are served when `sandtable serve` listens on more than a loopback address."""

    groups_header: str = Field(default="", pattern=r"^[A-Za-z0-9-]*$")
    """Header in which trusted proxies name the groups of the user, separated by commas; they are the user's teams. Name
    it only if the proxy replaces what clients send in it. None when unset."""

    admin_groups: Annotated[tuple[str, ...], NoDecode] = ()
    """Groups, separated by commas, whose members are administrators: they see everything, and the log says so."""

    insecure: bool = False
    """Lets `sandtable serve` listen on more than a loopback address and serve everybody who can reach it, without
    accounts."""

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
    """Longest SQL text that the gate accepts."""

    python: Literal["off", "on"] | None = None
    """Whether Python may be run. When unset it is `off` for `sandtable serve` and `on` for the command line and the
    library. It needs `pip install 'sandtable[python]'`."""

    max_code_bytes: int = Field(default=100_000, ge=256, le=2 << 20)
    """Longest Python text that the gate accepts."""

    max_output_bytes: int | None = Field(default=None, ge=1024, le=16 << 20)
    """How much of what Python prints is kept; the rest is cut, and a note says so. When unset it is 64 KiB for
    `sandtable serve` and 1 MiB for the command line and the library."""

    session: Literal["local", "jupyter"] = "local"
    """What keeps the state of a conversation's Python: the local sandbox itself, or a Jupyter kernel inside it
    (needs `pip install 'sandtable[jupyter]'`)."""

    session_idle_s: float = Field(default=1800.0, gt=0, le=86_400)
    """Seconds without a cell after which a Python session is ended. Its next cell first runs the earlier
    ones again."""

    max_sessions: int = Field(default=16, ge=1, le=1024)
    """Python sessions alive at the same time, each with the memory of a run; to start one more, the least recently
    used one is ended."""

    concurrency: int = Field(default=4, ge=1)
    """Runs executed at the same time. Verifications of capsules have separate slots, half as many."""

    queue_limit: int = Field(default=10_000, ge=1)
    """Runs that may wait in the queue; more are refused."""

    user_share: float = Field(default=0.75, gt=0, le=1)
    """Share of a server that one user may take: slots for runs, verifications, checks and answers, and room in
    their queues; at least one of each. A command has one user, who has all of it."""

    keep_days: int | None = Field(default=None, ge=1)
    """Runs and conversations that were last used longer ago than this are removed, in days; see retention.md. All are
    kept when unset."""

    keep_runs: int | None = Field(default=None, ge=1)
    """How many of the newest runs are kept; all when unset."""

    keep_mb: int | None = Field(default=None, ge=1)
    """How much the runs, capsules and conversations that are kept may take, in MiB; no limit when unset."""

    keep_versions: int | None = Field(default=None, ge=1)
    """How many versions of each dataset that was added are kept, the current one among them; all when unset. Capsules
    of a version that is removed can be verified only after its files were added again; see retention.md."""

    keep_versions_days: int | None = Field(default=None, ge=1)
    """Versions of added datasets that were replaced by a newer one longer ago than this are removed, in days; no
    limit when unset."""

    keep_versions_mb: int | None = Field(default=None, ge=1)
    """How much all versions of all added datasets may take as converted files, in MiB, before the oldest that are not
    current are removed; no limit when unset."""

    user_disk_mb: int | None = Field(default=None, ge=0)
    """How much one user's runs, capsules and conversations may take, in MiB, before more are refused; 0 is no limit.
    When unset it is 10,240 for `sandtable serve`, and no limit for the command line and the library."""

    user_threads: int | None = Field(default=None, ge=0)
    """How many conversations one user may have on a server; 0 is no limit. When unset it is 10,000."""

    rate_reads: int = Field(default=6000, ge=0)
    """How many requests that only read one user may send to a server in a minute, at once or evenly; more are answered
    with 429. 0 is no limit. The machine itself has none without accounts."""

    rate_writes: int = Field(default=1200, ge=0)
    """The same for requests that begin or change something: questions, runs, checks, imports, streams."""

    rate_sign_ins: int = Field(default=10, ge=0)
    """How many attempts to sign in there may be in a minute from one address, and on one account."""

    max_upload_mb: int = Field(default=5 << 10, ge=1)
    """Largest file that may be sent to `sandtable serve`, in MiB."""

    data_quota_mb: int = Field(default=50 << 10, ge=1)
    """How much all data that people add to `sandtable serve` may take, in MiB: files being sent, the kept files and
    what they became."""

    upload_hours: float = Field(default=24.0, gt=0, le=8760)
    """Hours after which an upload that receives no more bytes and was not imported is removed."""

    fetch_private: bool = False
    """Whether `sandtable serve` may fetch files from loopback and private addresses, which its users may not be able
    to reach themselves."""

    fetch_timeout_s: float = Field(default=600.0, gt=0, le=86_400)
    """Wall-clock limit for fetching a file from an address, in seconds."""

    database_hosts: Annotated[tuple[str, ...], NoDecode] = ()
    """Hosts, separated by commas, whose databases every user of `sandtable serve` may connect: `db.example.org`, with
    a port (`db.example.org:5432`), `.example.org` for every name below it, `*` for any. An administrator, and a person
    at the server's own machine where there are no accounts, may connect any database."""

    snapshot_timeout_s: float = Field(default=3600.0, gt=0, le=86_400)
    """Wall-clock limit for copying the chosen tables of a connected database, in seconds. A statement in the database
    gets no more either."""

    source_workers: int = Field(default=2, ge=1, le=64)
    """Queries that may run at once in one connected database; each has a connection of its own."""

    standby: int = Field(default=2, ge=0)
    """Sandboxes kept ready before a dataset is known."""

    presealed: int = Field(default=2, ge=0)
    """Sandboxes kept ready for each dataset in use; for Python at most one."""

    model: str | None = None
    """What proposes plans: `builtin`, or a chat model as `anthropic:NAME`, `openai:NAME` or `ollama:NAME`. When unset,
    a key that is found picks its provider's default model (see models.md); with no key it is `builtin`."""

    model_base_url: str | None = Field(default=None, repr=False)
    """Address of the chat model: any OpenAI-compatible one for `openai:NAME`; the provider's own when unset."""

    model_timeout_s: float | None = Field(default=None, gt=0, le=3600)
    """Hard limit for one proposal or one wording by a chat model, retries included, in seconds. When unset, 60 for a
    provider's own models and 300 for a compatible server or Ollama, which may run on a CPU."""

    model_tool_calls: int = Field(default=3, ge=0, le=8)
    """Tools that a chat model may call for one question before it proposes: list datasets, read a schema, run a plan,
    SQL or Python, read a run. 0 offers none."""

    mcp_rows: int = Field(default=50, ge=1, le=10_000)
    """Rows that one call of an MCP tool gives; the rest is a resource."""

    mcp_bytes: int = Field(default=64 << 10, ge=4096, le=16 << 20)
    """Bytes that one call of an MCP tool gives: its text and its structured content together."""

    mcp_tokens: int = Field(default=10_000, ge=1000, le=1_000_000)
    """Tokens that one call of an MCP tool gives, reckoned at three characters each; the smallest of the three limits
    counts."""

    privacy: Literal["auto", "off", "schema"] = "auto"
    """`schema` keeps every cell value away from the chat model; `off` shows it samples and results; `auto` is
    `off` for a model that `SANDTABLE_MODEL` names and `schema` for one that was only found by its key."""

    anthropic_api_key: SecretStr | None = Field(
        default=None, validation_alias=AliasChoices("SANDTABLE_ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY")
    )
    """Key for Anthropic's models."""

    openai_api_key: SecretStr | None = Field(
        default=None, validation_alias=AliasChoices("SANDTABLE_OPENAI_API_KEY", "OPENAI_API_KEY")
    )
    """Key for OpenAI's models, or for the server at the base address."""

    anthropic_base_url: str | None = Field(
        default=None,
        repr=False,
        validation_alias=AliasChoices("SANDTABLE_ANTHROPIC_BASE_URL", "ANTHROPIC_BASE_URL"),
    )
    """Address for `anthropic:NAME` when `SANDTABLE_MODEL_BASE_URL` is unset."""

    openai_base_url: str | None = Field(
        default=None,
        repr=False,
        validation_alias=AliasChoices("SANDTABLE_OPENAI_BASE_URL", "OPENAI_BASE_URL"),
    )
    """Address for `openai:NAME` when `SANDTABLE_MODEL_BASE_URL` is unset."""

    ollama_host: str | None = Field(
        default=None, repr=False, validation_alias=AliasChoices("SANDTABLE_OLLAMA_HOST", "OLLAMA_HOST")
    )
    """Address for `ollama:NAME` when `SANDTABLE_MODEL_BASE_URL` is unset."""

    approval: Literal["off", "sql"] = "off"
    """`sql` asks a person before the conversation runs anything, and shows the exact SQL."""

    scrub_hours: float = Field(default=24.0, ge=0, le=8760)
    """How often `sandtable serve` reads all converted data in the background, in hours, to detect silent changes on
    disk; 0 switches it off."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severe level that is logged."""

    log_format: Literal["auto", "json", "text"] = "auto"
    """Form of a server's log: a JSON object on each line, or a short line for people. `auto` is `text` on a terminal
    and `json` elsewhere."""

    tracing: Literal["auto", "on", "off"] = "auto"
    """Whether `sandtable serve` exports traces by OpenTelemetry; needs `pip install 'sandtable[tracing]'`. `auto` does
    so where an address for them is set."""

    otlp_endpoint: str | None = Field(
        default=None,
        repr=False,
        validation_alias=AliasChoices(
            "SANDTABLE_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"
        ),
    )
    """Address of an OTLP/HTTP collector, such as `http://collector:4318`; `/v1/traces` is added where it is missing."""

    @field_validator("allowed_hosts", mode="before")
    @classmethod
    def _hosts(cls, given: Any) -> Any:
        return tuple(map(_host, listed(given)))

    @field_validator("admin_groups", "database_hosts", mode="before")
    @classmethod
    def _names(cls, given: Any) -> Any:
        return tuple(listed(given))

    @field_validator("trusted_proxies", mode="before")
    @classmethod
    def _networks(cls, given: Any) -> Any:
        return tuple(map(ip_network, listed(given)))

    @property
    def verifications(self) -> int:
        """Capsule verifications at the same time."""
        return max(1, self.concurrency // 2)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Without the sources for files, which go through every field although no file is named."""
        return init_settings, env_settings

    @property
    def checks(self) -> int:
        """Texts and downloads checked for a caller, outside any run, at the same time."""
        return 2

    @property
    def places(self) -> int:
        """Sandboxes at the same time: for the runs and verifications, a parser beside each, and the checks."""
        return (self.concurrency + self.verifications) * 2 + self.checks

    @field_validator("home", "datasets", "web", "kubernetes_template", "signing_key")
    @classmethod
    def _from_the_root(cls, path: Path | None) -> Path | None:
        """An absolute path: a sandbox and a restarted server have other working directories."""
        return path and path.expanduser().absolute()


def https_proxy_for(host: str) -> str | None:
    """The proxy of HTTPS_PROXY, else of ALL_PROXY; None where NO_PROXY names the host."""
    from urllib.request import getproxies, proxy_bypass  # loads an HTTP client, which few commands need

    known = getproxies()
    if proxy_bypass(host, known):
        return None
    return known.get("https") or known.get("all") or None


def environment_variable(name: str) -> str | None:
    """One that a person named as the place of a secret. It is read when it is needed, and kept nowhere."""
    return os.environ.get(name)
