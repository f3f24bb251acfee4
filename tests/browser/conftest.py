"""A real browser against the real server. Pictures of every journey are left in `screenshots/`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
PICTURES = Path(__file__).parent / "screenshots"
PROGRAM = (sys.executable, "-c", "from sandtable.cli import main; main(prog_name='sandtable')")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
OTHER_BUILD = {name: os.environ[name] for name in ("SANDTABLE_WEB",) if name in os.environ}
"""Read before the tests forget the person's settings: those who work on the interface try their own build."""

PATIENCE_MS = 60_000
"""What comes, comes at once; on a machine that others use as well, after half a minute."""

expect.set_options(timeout=PATIENCE_MS)

Serve = Callable[..., str]


@contextmanager
def serving(home: Path, program: Sequence[str] = PROGRAM) -> Iterator[Serve]:
    """`start(APPROVAL="sql")` starts a server with these settings and gives its address."""
    started: list[subprocess.Popen[str]] = []

    def start(**settings: str) -> str:
        environment = {
            **os.environ,
            **OTHER_BUILD,
            "SANDTABLE_HOME": str(home),
            "PYTHONPATH": str(ROOT / "src"),
        }
        environment |= {f"SANDTABLE_{name}": value for name, value in settings.items()}
        with (home / "server.log").open("a") as log:
            process = subprocess.Popen(
                [*program, "serve", "--port", settings.get("PORT", "0"), "--json"],
                cwd=ROOT,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        started.append(process)
        assert process.stdout
        return json.loads(process.stdout.readline())["url"]

    try:
        yield start
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(20)
            assert process.stdout
            process.stdout.close()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Servers for one test."""
    with serving(tmp_path) as start:
        yield start


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of one server for all tests that need no settings: a start takes seconds."""
    with serving(tmp_path_factory.mktemp("served")) as start:
        yield start()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """For one file of tests: while it is open its own event loop runs, and no other test could have one."""
    program = shutil.which("chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Whatever the page complains about in its console fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE_MS)
    complaints: list[str] = []
    opened.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.complaints = complaints  # pyright: ignore[reportAttributeAccessIssue]  # read by the tests below
    yield opened
    context.close()


@pytest.fixture
def picture(page: Page, request: pytest.FixtureRequest) -> Callable[[str], None]:
    PICTURES.mkdir(exist_ok=True)

    def take(name: str) -> None:
        page.screenshot(path=PICTURES / f"{request.node.name}-{name}.png")

    return take
