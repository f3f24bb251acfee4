"""The SBIR awards as one CSV file on this machine: where it is, and how it gets there."""

from __future__ import annotations

from pathlib import Path

from sbirtools import settings
from sbirtools.download import Progress, Transfer, fetch


def get_cache_path() -> Path:
    """Where the awards are kept: `award_data.csv` in `SBIRTOOLS_CACHE_DIR`, by default `~/.cache/sbirtools`."""
    return settings.cache_path()


def get_csv_url() -> str:
    """Where the awards come from: `SBIRTOOLS_CSV_URL`, by default the file that sbir.gov publishes."""
    return settings.csv_url()


def download_csv(url: str, *, progress: Progress | None = None) -> Path:
    """Fetch the awards from `url` (http or https) to `get_cache_path()`, replacing what is there.

    A dropped connection is retried, a partial download is resumed, and the file appears only when it is
    complete. `progress` is called with the bytes so far and in total. Raises DownloadError.
    """
    return fetch(Transfer(url, get_cache_path(), progress))


def download_csv_if_missing() -> Path:
    """The cached file; fetched from `get_csv_url()` first when it is missing or empty. Raises DownloadError."""
    path = get_cache_path()
    return path if _there(path) else fetch(Transfer(get_csv_url(), path, unless=lambda: _there(path)))


def _there(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0
