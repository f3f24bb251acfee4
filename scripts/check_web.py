"""Everything about web/app that can be judged without a browser: `make web-check`.

Style (Biome), types (TypeScript), tests (Vitest), and whether src/api/schema.d.ts is what openapi-typescript
makes of src/api/openapi.json. With `--write-types` it only writes that file: part of `make web-types`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts import build_web, node

APP = build_web.APP
SCHEMA = APP / "src" / "api" / "openapi.json"
TYPES = APP / "src" / "api" / "schema.d.ts"


def main(arguments: list[str]) -> int:
    try:
        program = node.find_node()
        build_web.install(program)
        if "--write-types" in arguments:
            _write_types(program, TYPES)
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
        fresh = Path(scratch) / TYPES.name
        _write_types(program, fresh)
        if not TYPES.is_file() or TYPES.read_bytes() != fresh.read_bytes():
            raise node.Broken(
                f"{TYPES.relative_to(node.ROOT)} lags behind {SCHEMA.name}: run `make web-types`"
            )


def _write_types(program: Path, there: Path) -> None:
    script, *arguments = "openapi-typescript/bin/cli.js", str(SCHEMA), "--output", str(there)
    node.run(program, APP, script, *arguments, quiet=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
