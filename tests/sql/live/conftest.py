"""A PostgreSQL whose collation, time zone and other settings are none of those that DuckDB has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests import postgres
from tests.plan.shop import SHOP, connect
from tests.sql.live.twins import Twin

OTHER_WAYS = {
    "timezone": "America/New_York",
    "datestyle": "German, DMY",
    "intervalstyle": "iso_8601",
    "standard_conforming_strings": "off",
    "escape_string_warning": "off",
    "lc_time": "C",
}


@pytest.fixture(scope="session")
def server() -> Iterator[psycopg.Connection[Any]]:
    with postgres.cluster() as address:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(
                "CREATE DATABASE other TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'de-DE' ENCODING 'UTF8'"
            )
        with psycopg.connect(address.replace("/postgres?", "/other?"), autocommit=True) as connection:
            for name, value in OTHER_WAYS.items():
                connection.execute("SELECT set_config(%s, %s, false)", (name, value))
            yield connection


@pytest.fixture(scope="session")
def shop(server: psycopg.Connection[Any]) -> Twin:
    with connect() as source:
        return Twin.of(SHOP, source, server, "the shop")
