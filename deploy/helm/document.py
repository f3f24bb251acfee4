"""Write what values.yaml says of each value into README.md and values.schema.json; with `--check`, only compare.

Invariant: the comment above a value is its one description, and no value is without one.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHART = Path(__file__).parent / "sandtable"
BEGIN, END = "<!-- values: written by document.py -->\n", "<!-- end of values -->\n"
_KEY = re.compile(r"^(?P<indent> *)(?P<key>[\w./-]+):(?: (?P<value>.*))?$")


@dataclass(frozen=True, slots=True)
class Value:
    path: tuple[str, ...]
    default: str
    about: str


def read_values(text: str) -> list[Value]:
    """Every value with a comment above it, in order. What lies below such a value is its default."""
    found: list[Value] = []
    comment: list[str] = []
    place: list[tuple[int, str]] = []
    for line in text.splitlines():
        match = _KEY.match(line)
        if line.strip().startswith("#"):
            comment.append(line.strip().removeprefix("#").strip())
        elif match:
            indent = len(match["indent"])
            place = [(at, key) for at, key in place if at < indent] + [(indent, match["key"])]
            if comment:
                path = tuple(key for _, key in place)
                found.append(Value(path, match["value"] or "see values.yaml", " ".join(comment)))
            comment = []
        else:
            comment = []
    return found


def table(values: list[Value]) -> str:
    lines = ["| value | default | meaning |", "|---|---|---|"]
    for value in values:
        default = value.default if value.default == "see values.yaml" else f"`{value.default}`"
        cells = (f"`{'.'.join(value.path)}`", default, value.about)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def described(schema: dict[str, Any], values: list[Value]) -> dict[str, Any]:
    """What lies in a definition that several values share has no description: it would be true of one of them."""
    for value in values:
        node: dict[str, Any] | None = schema
        for key in value.path:
            node = node.get("properties", {}).get(key) if node else None
        if node is not None:
            node["description"] = value.about
    return schema


def pages() -> dict[Path, str]:
    values = read_values((CHART / "values.yaml").read_text(encoding="utf-8"))
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    readme = (CHART / "README.md").read_text(encoding="utf-8")
    before, _, rest = readme.partition(BEGIN)
    after = rest.partition(END)[2]
    return {
        CHART / "README.md": before + BEGIN + table(values) + END + after,
        CHART / "values.schema.json": json.dumps(described(schema, values), indent=2, ensure_ascii=False)
        + "\n",
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say which page is stale")
    only_check = parser.parse_args().check
    stale = [path for path, text in pages().items() if path.read_text(encoding="utf-8") != text]
    for path in stale:
        if only_check:
            sys.stderr.write(f"{path.name} is stale: python deploy/helm/document.py\n")
        else:
            path.write_text(pages()[path], encoding="utf-8")
    return int(only_check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
