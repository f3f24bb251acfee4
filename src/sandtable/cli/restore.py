"""`sandtable restore`: a home from a backup."""

from __future__ import annotations

from pathlib import Path

import click

from sandtable.cli import inputs
from sandtable.cli.running import run_to_end
from sandtable.cli.session import showing
from sandtable.cli.show import clean, print_json
from sandtable.process import load_settings, quiet_logs


@click.command("restore")
@click.argument("source", metavar="FILE.tar|FOLDER", type=click.Path(path_type=Path))
@click.option(
    "--home",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="The new home, empty or not there yet; else SANDTABLE_HOME.",
)
@click.option(
    "--key",
    metavar="PEM",
    type=click.Path(path_type=Path),
    help="The public key that must have signed the backup.",
)
@click.option("--check", "only_check", is_flag=True, help="Only check the backup: nothing is restored.")
@inputs.json_option
def command(source: Path, home: Path | None, key: Path | None, only_check: bool, as_json: bool) -> int:
    """Make a home from a backup, after every digest was checked.

    A backup that is damaged, cut off or not Sandtable's is refused, and nothing appears. Restore only backups that
    you trust as you trust the home itself: with --key you require the signature of your installation
    (`sandtable key` prints its public key). Then `sandtable verify --all` verifies the capsules of the new home.

    Exit code: 0 done, 1 there is no space or the database cannot be used, 2 the backup or the home cannot be used.
    """
    from sandtable.backup.manifest import short_id  # loads the stores, which `--help` does without
    from sandtable.backup.restoring import opened
    from sandtable.backup.work import examine, restore

    quiet_logs()
    settings = load_settings()
    new = home or settings.home

    async def work() -> int:
        with opened(source, key) as backup:
            if only_check:
                async with showing("Checking") as progress:
                    await examine(backup, progress)
            else:
                async with showing("Restoring") as progress:
                    await restore(settings, backup, new, progress)
        manifest, signed_by = backup.manifest, short_id(backup.key)
        about = f"made {manifest.made_at} by Sandtable {manifest.sandtable}, signed by {signed_by}"
        if as_json:
            said = {"files": len(manifest.entries), "bytes": manifest.size, "made_at": manifest.made_at}
            print_json({**said, "home": None if only_check else str(new), "signed_by": signed_by})
        elif only_check:
            click.echo(f"The backup is whole: {len(manifest.entries):,} files, {clean(about)}")
        else:
            click.echo(f"Restored {len(manifest.entries):,} files to {clean(str(new))} ({clean(about)})")
            click.echo(f"Verify its capsules: SANDTABLE_HOME={clean(str(new))} sandtable verify --all")
        return 0

    return run_to_end(work)
