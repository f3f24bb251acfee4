"""`sandtable key`: prints the public key that verifies the capsules of this installation."""

from __future__ import annotations

import click

from sandtable.capsule.keys import open_signing_key, public_pem
from sandtable.cli import inputs
from sandtable.cli.show import print_json
from sandtable.process import load_settings


@click.command("key")
@inputs.json_option
def command(as_json: bool) -> int:
    """Print the public key that capsules are signed with."""
    settings = load_settings()
    key = open_signing_key(settings.home, settings.signing_key)
    pem = public_pem(key.private.public_key()).decode("ascii")
    if as_json:
        print_json({"keyid": key.keyid, "algorithm": "Ed25519", "pem": pem})
    else:
        click.echo(pem, nl=False)
    return 0
