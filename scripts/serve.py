"""Set up what serving needs and serve: `make serve`.

Packages are installed while the web interface is built. The page is served as soon as both are there; the stock chat
UI is built after that, at a low priority, and served when it arrives. Each step prints a line when it ends.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts import build_stock_ui, build_web, install, node

RUNTIME = node.ROOT / "requirements" / "runtime.lock.txt"
LOG = node.ROOT / "build" / "chat-ui.log"
_START = time.monotonic()


def main() -> int:
    setup = Path(sys.prefix) / ".setup"
    fresh = _is_fresh(setup)
    print(
        "Setting up: packages and the web interface, side by side." if not fresh else "Starting.", flush=True
    )
    with ThreadPoolExecutor() as side:
        # Node comes first: a build needs it, and two installers would wait for each other.
        ready = side.submit(_node)
        packages = side.submit(lambda: fresh or _timed("packages are installed", lambda: _packages(setup)))
        web = side.submit(lambda: (ready.result(), _build("web"))[1])
        if not packages.result():
            return 1
        built = web.result()
    if built:
        _say("the web interface is ready")
    _begin_chat_ui()
    environment = {"SANDTABLE_LOG_LEVEL": "warning", **os.environ}
    program = Path(sys.prefix) / "bin" / "sandtable"
    os.execve(program, [str(program), "serve", *sys.argv[1:]], environment)


def _node() -> None:
    try:
        node.find_node()
    except (OSError, subprocess.CalledProcessError):
        return  # The build tries again, and says what is wrong.


def _is_fresh(setup: Path) -> bool:
    made_from = (RUNTIME, node.ROOT / "pyproject.toml", Path(sys.prefix) / ".made")
    return setup.is_file() and all(setup.stat().st_mtime >= each.stat().st_mtime for each in made_from)


def _packages(setup: Path) -> bool:
    try:
        install.install([RUNTIME])
        ours = ["--no-deps", "--no-build-isolation", "--no-index", "--editable", str(node.ROOT)]
        subprocess.run([*install.PIP, "install", *ours], check=True)
    except subprocess.CalledProcessError as error:
        print(f"The packages could not be installed: {node.reason(error)}", file=sys.stderr)
        return False
    setup.touch()
    return True


def _build(what: str) -> bool:
    """In a process of its own: what it prints is shown when it fails."""
    script = {"web": build_web, "chat-ui": build_stock_ui}[what].__file__
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.stderr.strip(), file=sys.stderr, flush=True)
    return done.returncode == 0


def _begin_chat_ui() -> None:
    """Builds beside the server; the marker tells the server's page so for as long as the process lives."""
    if build_stock_ui.is_current():
        return
    LOG.parent.mkdir(exist_ok=True)
    node.BUILT.mkdir(exist_ok=True)
    script, marker = str(build_stock_ui.__file__), str(node.BUILT / "chat-ui.building")
    # Not a child of the server that this process becomes, which would not wait for its end.
    beside = '(nice "$1" "$2"; rm -f "$3") >"$4" 2>&1 & echo $! >"$3"'
    subprocess.run(["sh", "-c", beside, "sh", sys.executable, script, marker, str(LOG)], check=True)
    _say("the stock chat UI is built beside the server; /chat/ shows it when it is ready")


def _timed(done: str, work: Callable[[], bool]) -> bool:
    succeeded = work()
    if succeeded:
        _say(done)
    return succeeded


def _say(text: str) -> None:
    print(f"[{time.monotonic() - _START:4.0f} s] {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
