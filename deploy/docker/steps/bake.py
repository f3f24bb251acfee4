"""In the build: the built-in datasets, converted and profiled by the product itself, as a data store.

The versions are those of the registry: the conversion checks it, and a server finds in an image what it would
have made itself.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import tempfile
from pathlib import Path

from sandtable.assemble import assemble
from sandtable.settings import Settings

_KEPT = ("versions", "profiles")


async def bake(target: Path) -> None:
    with tempfile.TemporaryDirectory() as home:
        # Profiles hold the same bytes whatever the number of threads; Parquet files need not.
        async with assemble(Settings(home=Path(home), threads=1, backend="local")) as parts:
            for dataset in parts.datasets.datasets():
                await parts.datasets.profile(await parts.datasets.ready(dataset.id))
        for name in _KEPT:
            shutil.copytree(Path(home) / "data" / name, target / name)


def strip_codes(target: Path) -> None:
    """The key of this build is thrown away: its codes vouch for nothing, and differ from build to build."""
    for path in target.glob("versions/*/digests.json"):
        digests = json.loads(path.read_bytes())
        digests.pop("mac", None)
        path.write_text(json.dumps(digests, indent=1), "utf-8")


if __name__ == "__main__":
    place = Path(sys.argv[1])
    asyncio.run(bake(place))
    strip_codes(place)
