"""`sandtable backup`: a copy of the home and its database, while servers work."""

from __future__ import annotations

from pathlib import Path

import click

from sandtable.cli import inputs
from sandtable.cli.running import run_to_end
from sandtable.cli.session import showing
from sandtable.cli.show import clean, print_json
from sandtable.process import load_settings, quiet_logs


@click.command("backup")
@click.argument("target", metavar="FILE.tar|FOLDER", type=click.Path(path_type=Path))
@click.option(
    "--with-keys", is_flag=True, help="Take private keys and passwords of databases, too, unencrypted."
)
@inputs.json_option
def command(target: Path, with_keys: bool, as_json: bool) -> int:
    """Copy the home and its database to one archive or folder.

    Servers and commands may go on working. All databases are copied as they were at one moment, then the data, its
    originals and the catalog. A name that ends in `.tar` becomes one file, any other a folder; what exists is not
    overwritten. Runs and capsules of a Postgres database are copied as rows.

    Private keys are left out unless you ask for them: a home that is restored without them makes a key of its own, and
    trusts the capsules that the old one signed. With --with-keys, keep the backup as secret as the key.

    Exit code: 0 done, 1 a database cannot be used or there is no space, 2 the target cannot be used.
    """
    from sandtable.backup.work import back_up  # loads the stores, which `--help` does without

    quiet_logs()
    settings = load_settings()

    async def work() -> int:
        async with showing("Backing up") as progress:
            taken = await back_up(settings, target, with_keys=with_keys, progress=progress)
        left_out = [entry.model_dump() for entry in taken.manifest.left_out]
        if as_json:
            said = {"target": str(target), "files": len(taken.manifest.entries), "bytes": taken.size}
            print_json({**said, "keys": with_keys, "signed_by": taken.keyid, "left_out": left_out})
            return 0
        click.echo(
            f"Backed up {len(taken.manifest.entries):,} files, {taken.size / 1e6:,.1f} MB, to {clean(str(target))}"
            f" (signed by {taken.keyid[:16]})"
        )
        for entry in taken.manifest.left_out:
            click.echo(f"left out: {clean(entry.path)} ({entry.why})", err=True)
        if with_keys:
            click.secho(
                "WARNING: the backup holds the private key, unencrypted: who reads it can sign capsules as this"
                " installation.",
                bold=True,
                err=True,
            )
        return 0

    return run_to_end(work)
