"""Time zones from memory: the database is read once, in the template, because no file can be read later."""

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

    # Both of Python's implementations call this when there is no folder to search.
    zoneinfo._common.load_tzdata = load
    zoneinfo.reset_tzpath(to=())
