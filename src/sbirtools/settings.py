"""The only module of this package that reads the environment: the URL of the awards and the cache folder."""

from __future__ import annotations

import os
from pathlib import Path

DEFAULT_CSV_URL = "https://data.www.sbir.gov/mod_awarddatapublic/award_data.csv"
"""The awards with their abstracts, as sbir.gov publishes them."""

_FILE = "award_data.csv"


def csv_url() -> str:
    return os.environ.get("SBIRTOOLS_CSV_URL", "").strip() or DEFAULT_CSV_URL


def cache_path() -> Path:
    chosen = os.environ.get("SBIRTOOLS_CACHE_DIR", "").strip() or "~/.cache/sbirtools"
    return Path(chosen).expanduser().absolute() / _FILE
