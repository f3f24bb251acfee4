"""Runs code on the awards in `sandtable`'s sandbox, with one table in it."""

from __future__ import annotations

from typing import Any

import sandtable
from sandtable import RunResult
from sbirtools.data import download_csv_if_missing

TABLE = "award_data"
MEMORY_MB = 4096
"""All columns of all awards, abstracts included, and room to work with them."""

__all__ = ["RunResult", "SandboxSession", "run"]


def run(code: str, timeout: float = 30.0, **kwargs: Any) -> RunResult:
    """Run Python code on the SBIR awards, in a sealed sandbox without network, files or other processes.

    Print the answer: `result.stdout` is the primary output. The value of the last line is shown too, as in a notebook.
    `award_data` is a pandas DataFrame with one row per award. Its columns (use them exactly so):
      Company, Award Title, Agency, Branch, Phase ("Phase I", "Phase II"), Program ("SBIR", "STTR"),
      Agency Tracking Number, Contract, Proposal Award Date, Contract End Date, Solicitation Number,
      Solicitation Year, Topic Code, Award Year, Award Amount (US dollars), UEI, HUBZone Owned,
      Socially and Economically Disadvantaged, Women Owned ("Y", "N"), Number Employees, Company Website,
      Address1, Address2, City, State (two letters), Zip, Abstract,
      Contact Name / Title / Phone / Email, PI Name / Title / Phone / Email (principal investigator),
      RI Name / POC Name / POC Phone (research institution, of STTR awards).
    Preloaded, so that no import is needed: pd, np, pl, math, statistics, random, re, json, datetime, collections,
    itertools, functools, decimal, px and go (Plotly), alt (Altair), scipy; sql("SELECT … FROM award_data") and
    show(value) as well. Other imports, open(), eval(), exec() and names with double underscores are refused.

    Args:
        code: Python source, at most 100,000 bytes.
        timeout: seconds after which it is stopped.
        kwargs: further arguments of `sandtable.run`: `max_rows`, `memory_mb` (4096 here), `check`, `cache`.

    Returns a RunResult(stdout, stderr, success, error_message, …). Refused code, errors of the code and timeouts are
    results with `success=False`. Raises DownloadError when the awards are not here and cannot be fetched.
    """
    options = {"memory_mb": MEMORY_MB, **kwargs}
    return sandtable.run(code, {TABLE: download_csv_if_missing()}, timeout, **options)


class SandboxSession(sandtable.Session):
    """Code on the awards in several pieces; `award_data` is loaded once, and variables are kept between pieces.

        with SandboxSession() as session:
            session.run("recent = award_data[award_data['Award Year'] >= 2020]")
            print(session.run("print(len(recent))").stdout)

    The sandbox starts with the first `run(code, timeout=None)`. Code that exceeds its time is interrupted or, if need
    be, killed; the next `run` then starts another sandbox, and says so in `result.warnings`. `close()` may be called
    more than once. Several threads may use one session: their code runs one after the other.
    """

    def __init__(self, timeout: float = 30.0, **kwargs: Any) -> None:
        super().__init__({TABLE: download_csv_if_missing()}, timeout, **{"memory_mb": MEMORY_MB, **kwargs})
