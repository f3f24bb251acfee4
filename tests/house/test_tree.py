"""What holds for every file of the tree, whoever wrote it."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
LOCKS = sorted((ROOT / "requirements").glob("*.lock.txt"))
MAX_LINES = 400

# Written in pieces, so that this file does not find itself.
PERSONAL_PATH = re.compile("/(?:home|" + r"Users)/[a-z][\w.-]*/" + r"|(?<!/self)/ro" + r"ot/\w")
ADDRESS = re.compile(r"https?:|^-|\s@\s|file:", re.MULTILINE)
BARE_SUPPRESSION = re.compile(
    r"#\s*(?:no" + r"qa(?:: ?[A-Z0-9, ]+)?|(?:type|pyright): ign" + r"ore(?:\[[^\]]*\])?)\s*$", re.MULTILINE
)
LIBRARIES_OF_CODE = set("altair jinja2 narwhals numpy pandas plotly polars pyarrow scipy".split())
"""Of the extra `python`: only a template for code loads them."""
LIBRARIES_OF_NOTEBOOKS = set("IPython ipykernel jupyter_client tornado traitlets zmq".split())
"""Of the extra `jupyter`: only the template for kernels loads them."""
LIBRARIES_OF_FILES = {"charset_normalizer", "python_calamine"}
"""Of every runner: what reads the files that people add."""
RUNNER_MAY_IMPORT = sys.stdlib_module_names | {"duckdb", "sandtable_runner"}


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _tracked() -> Iterator[tuple[str, str]]:
    """Every text file that is, or is about to be, in the repository."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listing.split("\0")):
        content = (ROOT / name).read_bytes() if (ROOT / name).is_file() else b""
        if b"\0" not in content[:8192]:
            yield name, content.decode("utf-8", errors="replace")


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


@pytest.mark.needs("git")
def test_no_file_names_a_persons_folder() -> None:
    found = [f"{name}: {hit.group()}" for name, text in _tracked() if (hit := PERSONAL_PATH.search(text))]
    assert not found


@pytest.mark.needs("git")
def test_every_suppressed_warning_gives_its_reason() -> None:
    found = [name for name, text in _tracked() if name.endswith(".py") and BARE_SUPPRESSION.search(text)]
    assert not found


@pytest.mark.needs("git")
def test_files_stay_small_enough_to_read() -> None:
    found = [
        f"{name}: {lines} lines"
        for name, text in _tracked()
        if name.endswith(".py") and (lines := text.count("\n")) > MAX_LINES
    ]
    assert not found


@pytest.mark.parametrize("lock", LOCKS, ids=_name)
def test_a_lock_pins_hashes_and_names_no_registry(lock: Path) -> None:
    text = re.sub(r"\s*#.*", "", lock.read_text(encoding="utf-8"))
    entries = [entry for entry in re.split(r"\n(?=\S)", text) if entry.strip()]
    assert entries
    assert not ADDRESS.search(text)
    assert [entry for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize(
    "lock",
    sorted([*ROOT.glob("web/*/package-lock.json"), *ROOT.glob("tests/**/npm/package-lock.json")]),
    ids=_name,
)
def test_a_package_lock_pins_hashes_and_names_no_registry(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    packages = {name: entry for name, entry in json.loads(text)["packages"].items() if name}
    assert packages
    assert '"resolved"' not in text
    assert [name for name, entry in packages.items() if "integrity" not in entry] == []


def test_the_dev_lock_agrees_with_the_runtime_lock() -> None:
    runtime, dev = (
        set(
            re.findall(
                r"^[\w.-]+==\S+", (ROOT / "requirements" / name).read_text(encoding="utf-8"), re.MULTILINE
            )
        )
        for name in ("runtime.lock.txt", "dev.lock.txt")
    )
    assert runtime < dev


@pytest.mark.parametrize("source", SOURCES, ids=_name)
def test_every_module_says_what_it_is_for(source: Path) -> None:
    assert ast.get_docstring(ast.parse(source.read_text(encoding="utf-8")))


@pytest.mark.parametrize("source", sorted((ROOT / "src/sandtable_runner").rglob("*.py")), ids=_name)
def test_the_runner_needs_only_python_and_the_engine(source: Path) -> None:
    names = {name.partition(".")[0] for name in _imports(ast.parse(source.read_text(encoding="utf-8")))}
    room = source.parent.name
    further = LIBRARIES_OF_CODE if room in ("python", "jupyter") else set()
    further |= LIBRARIES_OF_NOTEBOOKS if room == "jupyter" else set()
    further |= LIBRARIES_OF_FILES if room == "intake" else set()
    further |= {"psycopg"} if room == "postgres" else set()
    further |= {"cryptography", "pymysql"} if room == "mysql" else set()
    assert names <= RUNNER_MAY_IMPORT | further


def test_generated_pages_are_up_to_date() -> None:
    command = [sys.executable, "scripts/gen_docs.py", "--check"]
    environment = {"PYTHONPATH": str(ROOT / "src"), "PATH": "", "HOME": str(Path.home())}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "page",
    [
        "docs/cli.md",
        "docs/plan.schema.json",
        "docs/policy.md",
        "docs/operations.md",
        "docs/settings.md",
        "web/app/src/api/openapi.json",
        "web/app/src/api/events.json",
    ],
)
def test_make_docs_writes_every_generated_page(page: str) -> None:
    assert f'"{page}"' in (ROOT / "scripts/gen_docs.py").read_text(encoding="utf-8")
