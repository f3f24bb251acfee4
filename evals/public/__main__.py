"""How a planner does on public question sets: `python -m evals.public SET DATA_FOLDER`, from the repository's root.

Prints the shares that are right, wrong, abstained and failed, the precision among those that are answered, and what
it would be if the best guess counted: of all questions, and of the surest 50 to 100 %.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from evals.public import spider, wikisql, wtq
from evals.public.measure import BUILTIN, grouped, measure_all

SETS = {"wikisql": wikisql.works, "spider": spider.works, "wtq": wtq.works}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m evals.public", description=__doc__)
    parser.add_argument("set", choices=list(SETS))
    parser.add_argument("data", type=Path, help="folder with the questions and tables of this set")
    parser.add_argument("--split", choices=("tune", "train"), default="tune")
    parser.add_argument("--limit", type=int, metavar="N", help="a sample of N questions, always the same")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes")
    parser.add_argument(
        "--planner", default=BUILTIN, metavar="MODULE:FUNCTION", help="see evals/public/measure.py"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object, with every question's outcome")
    arguments = parser.parse_args()
    works = SETS[arguments.set](arguments.data, arguments.split, arguments.limit)
    measured = measure_all(works, arguments.planner, arguments.jobs)
    groups = grouped(measured)
    if arguments.json:
        outcomes = {one.id: [one.status, one.guess, one.confidence] for one in measured}
        sys.stdout.write(json.dumps({"figures": groups, "outcomes": outcomes}) + "\n")
        return
    for name, found in groups.items():
        sys.stdout.write(f"{arguments.set}, {name}\n")
        sys.stdout.write("".join(f"{figure:>26}  {value:g}\n" for figure, value in found.items()))


if __name__ == "__main__":
    main()
