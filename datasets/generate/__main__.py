"""`python datasets/generate --out DIR` writes the CSV files; `--write-registry` refreshes registry.json."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

if not __package__:
    # Run as a folder, Python puts this folder on the path; the package is found from its parent.
    sys.path.insert(0, str(HERE.parent))

from generate import DATASETS, generate  # noqa: E402  (needs the path above)
from generate.refresh import refresh  # noqa: E402  (needs the path above)


def main() -> None:
    parser = argparse.ArgumentParser(prog="generate", description=__doc__)
    parser.add_argument("--out", type=Path, metavar="DIR", help="write DIR/<dataset>/<table>.csv")
    parser.add_argument("--only", action="append", choices=list(DATASETS), help="one dataset; repeatable")
    parser.add_argument(
        "--write-registry", action="store_true", help="refresh digests, rows and versions in registry.json"
    )
    args = parser.parse_args()
    if not args.out and not args.write_registry:
        parser.error("say --out DIR, --write-registry or both")
    if args.out:
        for path in generate(args.out, args.only or ()):
            print(path)
    if args.write_registry:
        refresh(HERE.parent / "registry.json")


main()
