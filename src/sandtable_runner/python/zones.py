"""Time zones from memory: the database is read once, in the template, for later there is no file to read."""

from __future__ import annotations

import io
import zoneinfo
import zoneinfo._common
import zoneinfo._tzpath
from pathlib import Path
from typing import IO


def keep_zones() -> None:
    read = zoneinfo._common.load_tzdata
    kept: dict[str, bytes] = {}
    for name in zoneinfo.available_timezones():
        file = zoneinfo._tzpath.find_tzfile(name)
        if file is not None:
            kept[name] = Path(file).read_bytes()
        else:
            with read(name) as stream:
                kept[name] = stream.read()

    def load(key: str) -> IO[bytes]:
        if key not in kept:
            raise zoneinfo.ZoneInfoNotFoundError(f"No time zone found with key {key}")
        return io.BytesIO(kept[key])

    # Both of Python's implementations ask here when they know no folder to look into.
    zoneinfo._common.load_tzdata = load
    zoneinfo.reset_tzpath(to=())
