"""Everything about web/app that can be judged without a browser: `make web-check`.

Style (Biome), types (TypeScript), tests and layers (Vitest), and whether the types in src/api are those that
openapi-typescript makes of the documents beside them. With `--write-types` it only writes the types: part of
`make web-types`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts import build_web, node

APP = build_web.APP
API = APP / "src" / "api"
TYPES = {API / "schema.d.ts": API / "openapi.json", API / "events.d.ts": API / "events.json"}
"""Which document each file of types is made from."""


def main(arguments: list[str]) -> int:
    try:
        program = node.find_node()
        build_web.install(program)
        if "--write-types" in arguments:
            for types, document in TYPES.items():
                _write_types(program, document, types)
            return 0
        checks = {
            "types of the API": lambda: _types_are_current(program),
            "Biome": lambda: node.run(program, APP, "@biomejs/biome/bin/biome", "check", "."),
            "TypeScript": lambda: node.run(program, APP, "typescript/bin/tsc", "--noEmit", "-p", "."),
            "Vitest": lambda: node.run(program, APP, "vitest/vitest.mjs", "run"),
        }
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"web/app cannot be checked: {node.reason(error)}", file=sys.stderr)
        return 1
    failed = []
    for name, check in checks.items():
        print(f"-- {name}", flush=True)
        try:
            check()
        except (node.Broken, subprocess.CalledProcessError) as error:
            print(f"{name}: {node.reason(error)}", file=sys.stderr)
            failed.append(name)
    if failed:
        print(f"web/app does not pass: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _types_are_current(program: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="sandtable-types-") as scratch:
        for types, document in TYPES.items():
            fresh = Path(scratch) / types.name
            _write_types(program, document, fresh)
            if not types.is_file() or types.read_bytes() != fresh.read_bytes():
                raise node.Broken(
                    f"{types.relative_to(node.ROOT)} lags behind {document.name}: run `make web-types`"
                )


def _write_types(program: Path, document: Path, there: Path) -> None:
    script, *arguments = "openapi-typescript/bin/cli.js", str(document), "--output", str(there)
    node.run(program, APP, script, *arguments, quiet=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
