"""What a machine may lack: name → probe. A probe answers None, or the reason why the thing is missing.

A test says `@pytest.mark.needs("userns")`. Where the probe finds nothing, the test is skipped and the
closing line says so; when `SANDTABLE_REQUIRE` names the thing (or is `all`), the test fails instead.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from sandtable.server.built import FOLDER, Build
from scripts.images import compose
from tests import mariadb, postgres

ORDINARY_ACCOUNT = "nobody"
RUNNER_IMAGE = "sandtable-runner:dev"
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_VERSION_FLAG = 1


def _complaint(*command: str) -> str | None:
    """None when the command succeeds, else why it did not."""
    if not shutil.which(command[0]):
        return f"no {Path(command[0]).name} program"
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except subprocess.TimeoutExpired:
        return "no answer within 20 s"
    if done.returncode == 0:
        return None
    said = done.stderr.strip().splitlines()
    return said[-1] if said else f"exit code {done.returncode}"


def _docker() -> str | None:
    return _complaint("docker", "version", "--format", "{{.Server.Version}}")


def _docker_images() -> str | None:
    """An engine that answers and has the runner's image: `python scripts/build_images.py`."""
    return _complaint("docker", "image", "inspect", "--format", "{{.Id}}", RUNNER_IMAGE)


def _git() -> str | None:
    return _complaint("git", "-C", str(Path(__file__).parent), "rev-parse", "--git-dir")


def _chromium() -> str | None:
    return _complaint("chromium", "--version")


def _web_ui() -> str | None:
    """Sandtable's own web interface, as `make web` builds it."""
    return None if Build(FOLDER / "web").exists else "not built: make web"


def _axe() -> str | None:
    """The accessibility checker, which comes with what the web interface is built with."""
    checker = Path(__file__).parents[1] / "web/app/node_modules/axe-core/axe.min.js"
    return None if checker.is_file() else "not installed: make web-check"


def _npm(program: str) -> Callable[[], str | None]:
    """A program of npm that tests run."""
    return lambda: None if (Path(__file__).parent / program).is_file() else "not installed: make clients"


def _chat_ui() -> str | None:
    """The stock chat interface, as `make chat-ui` builds it."""
    return None if Build(FOLDER / "chat-ui").exists else "not built: make chat-ui"


def _compose() -> str | None:
    """Compose, and the images it brings up: `make test-docker` sees to both."""
    images = [f"sandtable-{name}:dev" for name in ("server", "chat", "postgres")]
    lacking = _complaint("docker", "image", "inspect", "--format", "{{.Id}}", *images)
    return lacking or (None if compose.find() else "no Compose of version 2 or newer: make test-docker")


def _helm() -> str | None:
    """What renders and checks the chart; development packages."""
    lacking = [name for name in ("helm_python", "kubernetes_validate") if not find_spec(name)]
    return f"not installed: {', '.join(lacking)}" if lacking else None


def _cluster() -> str | None:
    """A Kubernetes whose API server answers; `make test-kubernetes` makes one."""
    if not os.environ.get("KUBECONFIG"):
        return "KUBECONFIG is not set: make test-kubernetes"
    return _complaint("kubectl", "get", "--raw=/readyz", "--request-timeout=10s")


def _root() -> str | None:
    return None if os.geteuid() == 0 else "not running as root"


def _ordinary_user() -> str | None:
    """An unprivileged account that root can become and that can load the product from here."""
    if os.geteuid() != 0:
        return None
    try:
        account = pwd.getpwnam(ORDINARY_ACCOUNT)
    except KeyError:
        return f"no account {ORDINARY_ACCOUNT}"
    become = ("setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups")
    load = (sys.executable, "-c", "import sandtable, duckdb")
    return _complaint(*become, "env", f"PYTHONPATH={os.pathsep.join(sys.path)}", *load)


def _userns() -> str | None:
    return _complaint("unshare", "--user", "--map-root-user", "--mount", "true")


def _landlock() -> str | None:
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_VERSION_FLAG)
    return None if version > 0 else os.strerror(ctypes.get_errno())


def _cgroup() -> str | None:
    """A cgroup v2 folder of our own in which limits can be set."""
    lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    unified = [line.removeprefix("0::") for line in lines if line.startswith("0::")]
    if not unified:
        return "no cgroup v2"
    folder = Path("/sys/fs/cgroup") / unified[0].lstrip("/")
    if not (folder / "cgroup.controllers").exists():
        return "cgroup v2 is not mounted"
    return None if os.access(folder, os.W_OK) else "the server may not write its cgroup"


PROBES: dict[str, Callable[[], str | None]] = {
    "docker": _docker,
    "docker_images": _docker_images,
    "compose": _compose,
    "git": _git,
    "root": _root,
    "ordinary_user": _ordinary_user,
    "userns": _userns,
    "landlock": _landlock,
    "cgroup": _cgroup,
    "postgres": postgres.why_none,
    "mariadb": mariadb.why_none,
    "chromium": _chromium,
    "web_ui": _web_ui,
    "chat_ui": _chat_ui,
    "axe": _axe,
    "agui_client": _npm("server/agui/npm/node_modules/@ag-ui/client/package.json"),
    "mcp_suite": _npm("server/mcp/suite/node_modules/@modelcontextprotocol/conformance/dist/index.js"),
    "oidc_provider": _npm("oidc_provider/node_modules/oidc-provider/package.json"),
    "helm": _helm,
    "cluster": _cluster,
}


@cache
def missing(name: str) -> str | None:
    """Why this machine lacks `name`, or None when it has it. Probed once."""
    if name not in PROBES:
        raise LookupError(f"no need called {name!r}; tests/needs.py knows {', '.join(PROBES)}")
    return PROBES[name]()


def required(names: str) -> frozenset[str]:
    """What `SANDTABLE_REQUIRE` asks for; an unknown name is an error, so that a typo cannot hide a skip."""
    wanted = frozenset(name.strip() for name in names.split(",") if name.strip())
    if wanted == {"all"}:
        return frozenset(PROBES)
    if unknown := wanted - PROBES.keys():
        raise LookupError(
            f"SANDTABLE_REQUIRE names {sorted(unknown)}; tests/needs.py knows {', '.join(PROBES)}"
        )
    return wanted
