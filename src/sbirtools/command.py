"""`sbirtools-download-data`: downloads the awards into the cache, and shows progress."""

from __future__ import annotations

import sys

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TimeRemainingColumn, TransferSpeedColumn
from rich.progress import Progress as Bar

from sbirtools.data import download_csv, get_csv_url
from sbirtools.errors import DownloadError

_INTERRUPTED = 130


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("url", required=False)
def main(url: str | None) -> None:
    """Download the SBIR awards CSV from URL into the cache.

    Without URL, from SBIRTOOLS_CSV_URL, or from sbir.gov. The file becomes award_data.csv in
    SBIRTOOLS_CACHE_DIR, by default ~/.cache/sbirtools. An interrupted download goes on where it stopped.
    """
    try:
        path = _download(url or get_csv_url())
    except DownloadError as error:
        click.echo(f"error: {error.message}", err=True)
        if error.suggestion:
            click.echo(error.suggestion, err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        click.echo("interrupted; the next start goes on from here", err=True)
        sys.exit(_INTERRUPTED)
    click.echo(path)


def _download(url: str) -> str:
    console = Console(stderr=True)
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Bar(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("award_data.csv", total=None)
        path = download_csv(url, progress=lambda done, total: bar.update(task, completed=done, total=total))
    return str(path)


if __name__ == "__main__":
    main()
