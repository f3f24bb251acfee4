from __future__ import annotations

import pytest

from sandtable.errors import InvalidInput
from sandtable.sources.address import DatabaseAddress, read_address


def test_an_address_is_read_once_and_its_password_is_not_shown() -> None:
    found = read_address("postgresql://r%40x:p%2Fw@db.example.org:6543/shop?sslmode=require")
    assert found == DatabaseAddress("db.example.org", 6543, "shop", "r@x", "require", "", "p/w")
    assert "p/w" not in repr(found)


def test_the_scheme_says_which_kind_it_is() -> None:
    assert read_address("mysql://r:p@h/shop") == DatabaseAddress(
        "h", 3306, "shop", "r", "verify-full", "", "p", "mysql"
    )
    assert read_address("mariadb://r@h:3307/shop").port == 3307
    assert read_address("mariadb://r@/shop?socket=/run/s").host == "/run/s"
    assert (read_address("postgres://r@h").kind, read_address("postgres://r@h").database) == (
        "postgresql",
        "r",
    )


@pytest.mark.parametrize(
    ("text", "sslmode"),
    [
        ("postgresql://r@db.example.org/x", "verify-full"),
        ("postgresql://r@10.0.0.7/x", "verify-full"),
        ("postgresql://r@localhost/x", "disable"),
        ("postgresql://r@127.0.0.1/x", "disable"),
        ("postgres://r@[::1]/x", "disable"),
        ("mysql://r@db.example.org/x", "verify-full"),
        ("mariadb://r@/x?socket=/run/mysqld/mysqld.sock", "disable"),
        ("postgresql://r@/x?host=/run/postgresql", "disable"),
        ("postgresql://r@db.example.org/x?sslmode=disable", "disable"),
    ],
)
def test_another_machine_is_verified_unless_the_address_says_otherwise(text: str, sslmode: str) -> None:
    assert read_address(text).sslmode == sslmode


@pytest.mark.parametrize(
    "text",
    [
        "oracle://r:hidden@h/x",
        "mysql://r:hidden@h",
        "mysql://r:hidden@/x",
        "mysql://r:hidden@h/x?local_infile=1",
        "mysql://r:hidden@h/x?ssl-mode=hidden",
        "postgresql://r:hidden@h/x?socket=/hidden",
        "postgresql://r:hidden@/x",
        "postgresql://:hidden@h/x",
        "postgresql://r:hidden@h:port/x",
        "postgresql://r:hidden@h:99999/x",
        "postgresql://r:hidden@a,b/x",
        "postgresql://r:hidden@h/x?options=-c%20a",
        "postgresql://r:hidden@h/x?sslmode=prefer",
        "postgresql://r:hidden@h/x?sslmode=hidden\n",
        "postgresql://r:hidden@h/x?hidden",
        "postgresql://r:hidden@h/x%00",
        "postgresql://r:hidden@[h/x",
        "postgresql://r:12/hidden@h/x",
        "postgresql://r:12?hidden=3&b=4@h/x",
        "hidden",
    ],
)
def test_what_cannot_be_used_is_refused_without_being_quoted(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_address(text)
    assert "hidden" not in caught.value.message + caught.value.suggestion
    assert caught.value.__cause__ is None
