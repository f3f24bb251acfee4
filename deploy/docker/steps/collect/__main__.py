"""`python -m collect ground TARGET LAYER`, `python -m collect top TARGET IMAGE`: layers, as folders in TARGET.

The ground is Python and the packages, before Sandtable is installed, in layers that images share; the top is Sandtable
with its data, and the bill of materials of the whole. What a layer holds is told to those above it in `LAYER.json`.
"""

from __future__ import annotations

import json
import platform
import sys
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

from collect import distributions, sbom
from collect.ending import finish, settle
from collect.python import is_packaged, library_folders, take_authorities, take_python
from collect.tree import Tree

HERE = Path(__file__).resolve().parents[1]
BAKED = Path("/baked")
EXTRAS = {
    "python": (),
    "engine": (),
    "code": ("python",),
    "server": (
        "a2a",
        "ag-ui",
        "docker",
        "kubernetes",
        "mcp",
        "models",
        "mysql",
        "oidc",
        "postgres",
        "python",
        "reader",
        "tracing",
    ),
}
"""Layer → what is in it of our own project's extras."""
SERVER_DATA = "/opt/sandtable/data"
# A kernel for notebooks is only ever the local sandbox's.
_NOT_IN_RUNNER = "/sandtable_runner/jupyter/"


def ground(target: Path, layer: str) -> None:
    below = _below(target)
    tree = Tree(Path("/"), target, library_folders(), frozenset(below.taken))
    tree.begin(layer)
    components: list[sbom.Component] = []
    if layer == "python":
        take_python(tree)
        components += [] if is_packaged() else [sbom.of_program("python", platform.python_version())]
    elif layer == "server":
        take_authorities(tree)
    for each in distributions.closure(
        distributions.of_project(HERE / "pyproject.toml", EXTRAS[layer], layer)
    ):
        components.append(sbom.of_python(*distributions.described(each)))
        for path in distributions.files(each):
            tree.take(path)
    settle(target / layer)
    state = {"taken": sorted(tree.taken), "components": components}
    (target / f"{layer}.json").write_text(json.dumps(state), encoding="utf-8")


def top(target: Path, image: str) -> None:
    below = _below(target)
    tree = Tree(Path("/"), target, library_folders(), frozenset(below.taken))
    tree.begin("data")
    components = [*below.components, *_take_datasets(tree, SERVER_DATA if image == "server" else "/data")]
    tree.begin("product")
    product = distribution("sandtable")
    components.append(sbom.of_python(*distributions.described(product)))
    if image == "server":
        components += _take_server(tree, distributions.files(product))
    else:
        for path in distributions.files(product):
            if "/sandtable_runner/" in path and _NOT_IN_RUNNER not in path:
                tree.take(path)
    finish(tree, f"sandtable-{image}", product.version, components)


@dataclass(frozen=True, slots=True)
class Below:
    taken: list[str]
    components: list[sbom.Component]


def _below(target: Path) -> Below:
    states = [json.loads(path.read_bytes()) for path in sorted(target.glob("*.json"))]
    return Below(
        [path for state in states for path in state["taken"]],
        [component for state in states for component in state["components"]],
    )


def _take_server(tree: Tree, files: list[str]) -> list[sbom.Component]:
    for path in files:
        tree.take(path)
    command = (HERE / "start.py").read_text(encoding="utf-8")
    tree.write("/usr/local/bin/sandtable", f"#!{sys.executable} -I\n{command}", 0o755)
    tree.place(HERE / "ready.py", "/opt/sandtable/ready.py")
    # A volume made from it is a data store that belongs to the server, even if another mounts it first.
    tree.begin("home")
    tree.folder("/data/versions")
    tree.folder("/data/staging", 0o711)
    tree.folder("/", 0o750)
    locks = [HERE / "web" / name / "package-lock.json" for name in ("app", "stock")]
    return [component for lock in locks for component in sbom.of_npm(lock)]


def _take_datasets(tree: Tree, store: str) -> list[sbom.Component]:
    for path in sorted(path for path in BAKED.rglob("*") if path.is_file()):
        tree.place(path, f"{store}/{path.relative_to(BAKED).as_posix()}")
    # The store as the runner expects it, and the place where an order is mounted.
    for empty in ("/data/staging", "/job") if store == "/data" else ():
        tree.folder(empty)
    described = [json.loads(path.read_bytes()) for path in sorted(BAKED.glob("versions/*/dataset.json"))]
    return [sbom.of_dataset(each["id"], each["version"]) for each in described]


if __name__ == "__main__":
    part, place, name = sys.argv[1:]
    {"ground": ground, "top": top}[part](Path(place), name)
