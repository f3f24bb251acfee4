"""Installed Python distributions: which ones an image needs, and which of their files."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

ENGINE = ("charset-normalizer", "duckdb", "python-calamine")
"""What every runner needs: the engine, and what reads source files."""
_NOT_RUN = re.compile(
    # What compilers and test runners read, and scripts for a shell.
    r"(^|/)(tests|__pycache__|include)/|\.(a|h|hpp|hh|c|cc|cpp|pyx|pxd|pxi)$|^\.\./"
    # Clients of networks that an image with these libraries does not reach, and parts of notebooks.
    r"|^pyarrow/(_flight|_s3fs|_substrait|lib(arrow_flight|arrow_python_flight|arrow_s3|arrow_substrait)\b)"
    r"|^plotly/(labextension/|package_data/widgetbundle\.js)"
)


def of_project(pyproject: Path, extras: Iterable[str], layer: str) -> list[Requirement]:
    """What our own project file asks for with these extras; all of it for the server, `ENGINE` for the runner."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    own, offered = project["name"], project["optional-dependencies"]
    always = [Requirement(text) for text in project["dependencies"]]
    wanted = [r for r in always if layer == "server" or (layer == "engine" and _normal(r.name) in ENGINE)]
    waiting = list(extras)
    while waiting:
        for requirement in map(Requirement, offered[waiting.pop()]):
            if requirement.name == own:
                waiting += sorted(requirement.extras)
            else:
                wanted.append(requirement)
    return [r for r in wanted if r.marker is None or r.marker.evaluate()]


def closure(wanted: Iterable[Requirement]) -> list[Distribution]:
    """The distributions and all that they require here, by name."""
    found: dict[str, Distribution] = {}
    done: set[tuple[str, str]] = set()
    waiting = [(_normal(item.name), extra) for item in wanted for extra in ("", *item.extras)]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in done:
            continue
        done.add((name, extra))
        found.setdefault(name, distribution(name))
        waiting += [
            (_normal(item.name), further)
            for item in map(Requirement, found[name].requires or ())
            if item.marker is None or item.marker.evaluate({"extra": extra})
            for further in ("", *item.extras)
        ]
    return [found[name] for name in sorted(found)]


def files(of: Distribution) -> list[str]:
    """Those that a running program reads, as absolute paths."""
    base = Path(str(of.locate_file("")))
    listed = sorted(str(path) for path in of.files or ())
    return [str(base / path) for path in listed if not _NOT_RUN.search(path) and (base / path).is_file()]


def described(of: Distribution) -> tuple[str, str, str | None]:
    """Name, version and licence."""
    return _normal(of.name), of.version, of.metadata.get("License-Expression")


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
