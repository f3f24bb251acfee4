"""The ground every test stands on: an own home, no live network, and nothing skipped in silence."""

from __future__ import annotations

import ipaddress
import itertools
import os
import socket
from collections import Counter
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, settings

from tests import needs, postgres

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile(
    "ci", max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)

_PERSONAL = (
    "SANDTABLE_",
    "SANDBOX_",
    "OPENAI_",
    "ANTHROPIC_",
    "OLLAMA_",
    "LANGSMITH_",
    "LANGCHAIN_",
    "SBIRTOOLS_",
)
_REQUIRED = pytest.StashKey[frozenset[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_REQUIRED] = needs.required(os.environ.get("SANDTABLE_REQUIRE", ""))
    in_ci = os.environ.get("CI", "").lower() in {"1", "true"}
    settings.load_profile(os.environ.get("SANDTABLE_HYPOTHESIS_PROFILE", "ci" if in_ci else "dev"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        for name in mark.args:
            reason = needs.missing(name)
            if reason is None:
                continue
            if name in item.config.stash[_REQUIRED]:
                pytest.fail(f"SANDTABLE_REQUIRE names {name}, but: {reason}", pytrace=False)
            pytest.skip(f"{name} ({reason})")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One closing line for everything that was skipped, whatever skipped it."""
    skipped = [report.longrepr for report in terminalreporter.stats.get("skipped", [])]
    reasons = Counter(
        entry[2].removeprefix("Skipped: ") if isinstance(entry, tuple) else str(entry) for entry in skipped
    )
    if reasons:
        parts = [f"{reason}: {count} test{'s' * (count > 1)}" for reason, count in sorted(reasons.items())]
        terminalreporter.write_line("not run here: " + "; ".join(parts), yellow=True)


@pytest.fixture(scope="session", autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Neither the person's settings nor their data reach a test."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(_PERSONAL):
                patch.delenv(name)
        patch.setenv("SANDTABLE_HOME", str(tmp_path_factory.mktemp("home")))
        yield


class LiveNetwork(AssertionError):
    """A test reached for another machine."""


def _is_here(address: Any) -> bool:
    """Unix sockets (a path) and loopback addresses stay on this machine."""
    if not isinstance(address, tuple):
        return True
    host = str(address[0])
    if host in {"", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


@pytest.fixture(scope="session", autouse=True)
def _no_live_network() -> Iterator[None]:
    """Sockets of the test process connect to this machine only."""

    def guarded(name: str) -> Any:
        real = getattr(socket.socket, name)

        def call(self: socket.socket, *arguments: Any) -> Any:
            if not _is_here(arguments[-1]):
                raise LiveNetwork(f"a test tried to reach {arguments[-1]}: use a fake or a loopback server")
            return real(self, *arguments)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, name, guarded(name))
        yield


_SCHEMAS = itertools.count()


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """The address of a Postgres server of the tests' own."""
    with postgres.cluster() as url:
        yield url


@pytest.fixture
def postgres_url(cluster: str) -> str:
    """Tables of the test's own: a schema costs a millisecond, a database a copy of seven megabytes."""
    name = f"test_{next(_SCHEMAS)}"
    with psycopg.connect(cluster, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
    return f"{cluster}&options=-csearch_path%3D{name}"
