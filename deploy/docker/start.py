"""The command of the server image: `sandtable`, once the datasets that lie in the image are in the home.

A data store that lacks them gets copies, each by one rename; what is there already is left alone.
"""

import contextlib
import os
import secrets
import shutil
import sys
from pathlib import Path

from sandtable.cli import main
from sandtable.errors import InvalidInput
from sandtable.process import load_settings

BAKED = Path("/opt/sandtable/data")


def seed(store: Path) -> None:
    for kind in ("versions", "profiles"):
        folder = store / kind
        folder.mkdir(parents=True, exist_ok=True)
        for source in sorted((BAKED / kind).iterdir()):
            if not (folder / source.name).exists():
                _copy(source, folder)


def _copy(source: Path, folder: Path) -> None:
    draft = folder / f".{secrets.token_hex(8)}"
    try:
        if source.is_dir():
            shutil.copytree(source, draft)
        else:
            shutil.copyfile(source, draft)
        draft.rename(folder / source.name)
    except OSError as error:
        # The server converts them itself, and says what is wrong with its home.
        sys.stderr.write(f"the built-in data could not be put into {folder}: {error}\n")
        shutil.rmtree(draft, ignore_errors=True)


if __name__ == "__main__":
    # Settings that cannot be used are told by the command itself.
    with contextlib.suppress(InvalidInput):
        store = load_settings().home / "data"
        # Whoever only reads a store of another server is not the one to fill it.
        if os.access(store if store.exists() else store.parent, os.W_OK):
            seed(store)
    sys.exit(main())
