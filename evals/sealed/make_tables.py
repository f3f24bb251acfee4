"""Writes the tables of the sealed evaluation set: `python evals/sealed/make_tables.py [--out DIR]`.

Invariant: the same bytes on every machine and Python. Standard library, integer arithmetic and the seeded
generator of the built-in datasets only.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from datasets.generate.table import CsvTable
from evals.sealed.table_makers import company, industry, leisure, public

HERE = Path(__file__).resolve().parent

MAKERS: tuple[Callable[[], list[CsvTable]], ...] = (
    company.hr_employees,
    company.campaigns,
    company.saas,
    company.calls,
    company.web_traffic,
    leisure.gym_members,
    leisure.restaurant_checks,
    leisure.hotel_bookings,
    leisure.library,
    leisure.football_matches,
    industry.logistics,
    industry.energy_bills,
    industry.inspections,
    industry.crop_yields,
    industry.train_runs,
    public.hospital,
    public.school,
    public.listings,
    public.claims,
    public.charity,
)


def make_tables(out: Path) -> list[Path]:
    """Write `<out>/<table>.csv` for every table and return the paths."""
    out.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for maker in MAKERS:
        for table in maker():
            path = out / table.file
            path.write_bytes(table.to_bytes())
            written.append(path)
    return written


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=HERE / "tables", metavar="DIR")
    for path in make_tables(parser.parse_args().out):
        print(path)


if __name__ == "__main__":
    main()
