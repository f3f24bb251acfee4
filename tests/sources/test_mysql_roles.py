"""The preflight over real users of a MariaDB, and the password and the certificate over a real connection."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from sandtable.errors import InvalidInput, NotFound, SandtableError
from sandtable.sources.troubles import SourceRefused
from tests.sources.conftest import SECRET, Shop
from tests.sources.mariadb import MariaDatabase, shop_server
from tests.sources.test_roles import certificates

pytestmark = pytest.mark.needs("mariadb", "userns")

WRITERS = {
    "inserts": ("GRANT INSERT ON shop.orders TO {u}", "can change `shop.orders`"),
    "updates_a_column": ("GRANT UPDATE (city) ON shop.customers TO {u}", "can change `shop.customers`"),
    "deletes_anywhere": ("GRANT DELETE ON *.* TO {u}", "can change `*.*`"),
    "truncates": ("GRANT DROP ON shop.* TO {u}", "can change `shop.*`"),
    "alters": ("GRANT ALTER ON shop.orders TO {u}", "can change `shop.orders`"),
    "writes_elsewhere": ("GRANT ALL ON `else\\_where`.* TO {u}", "can change `else_where.*`"),
    "creates_tables": ("GRANT CREATE ON shop.* TO {u}", "can create tables in `shop`"),
    "creates_users": ("GRANT CREATE USER ON *.* TO {u}", "can create users"),
    "superuser": ("GRANT ALL ON *.* TO {u}", "is a superuser"),
    "super": ("GRANT SUPER ON *.* TO {u}", "is a superuser"),
    "reads_files": ("GRANT FILE ON *.* TO {u}", "files of the database's server"),
    "executes": ("GRANT EXECUTE ON shop.* TO {u}", "has the privileges `EXECUTE on shop.*`"),
    "triggers": ("GRANT TRIGGER ON shop.orders TO {u}", "has the privileges `TRIGGER on shop.orders`"),
    "ends_others": ("GRANT CONNECTION ADMIN ON *.* TO {u}", "has the privileges `CONNECTION ADMIN on *.*`"),
    "passes_on": ("GRANT SELECT ON shop.* TO {u} WITH GRANT OPTION", "`GRANT OPTION on shop.*`"),
    "becomes_another": ("GRANT PROXY ON reader TO {u}", "`PROXY on reader.%`"),
    "may_become_a_writer": (
        "CREATE ROLE inner_writer;\nGRANT DELETE ON shop.orders TO inner_writer;\nCREATE ROLE `outer 'one`;\n"
        "GRANT inner_writer TO `outer 'one`;\nGRANT `outer 'one` TO {u}",
        "can change `shop.orders`",
    ),
    "is_a_writer_by_default": (
        "CREATE ROLE default_writer;\nGRANT INSERT ON shop.* TO default_writer;\nGRANT default_writer TO {u};\n"
        "SET DEFAULT ROLE default_writer FOR {u}",
        "can change `shop.*`",
    ),
}


@pytest.fixture(scope="module")
def database() -> Iterator[MariaDatabase]:
    with shop_server() as made:
        yield made


@pytest.mark.parametrize("kind", WRITERS)
async def test_a_user_that_can_write_is_refused(database: MariaDatabase, shop: Shop, kind: str) -> None:
    grant, reason = WRITERS[kind]
    user = f"u_{kind}"
    database.reader(user, "shop")
    database.execute(grant.format(u=f"{user}@'%'"))
    with pytest.raises(InvalidInput) as caught:
        await shop.connect(database.url(user))
    assert f"user `{user}` can do more than read" in caught.value.message
    assert reason in caught.value.message
    assert "GRANT SELECT ON `shop`.* TO `shop_reader`@'%';" in caught.value.suggestion
    assert "--allow-writer" in caught.value.suggestion
    with pytest.raises(NotFound):
        shop.sources.records.get("shop")
    # Only the name itself overrules it.
    with pytest.raises(InvalidInput):
        await shop.connect(database.url(user), allowed_writer=f"{user}x")
    source = await shop.connect(database.url(user), allowed_writer=user)
    found = await shop.sources.look(source, SECRET)
    assert any(reason in each for each in found.overruled)


async def test_what_everybody_may_do_counts(database: MariaDatabase, shop: Shop) -> None:
    database.execute("CREATE DATABASE open_to_all;\nGRANT INSERT ON open_to_all.* TO PUBLIC")
    try:
        with pytest.raises(InvalidInput, match=r"can change `open_to_all\.\*`"):
            await shop.connect(database.url("reader"))
    finally:
        database.execute("REVOKE INSERT ON open_to_all.* FROM PUBLIC")


async def test_a_reader_is_told_what_it_can_see(database: MariaDatabase, shop: Shop) -> None:
    database.execute("CREATE DATABASE aside")
    database.reader("curious", "shop")
    database.execute(
        "GRANT SELECT ON aside.* TO curious@'%';\nGRANT CREATE TEMPORARY TABLES, LOCK TABLES, SHOW VIEW ON shop.*"
        " TO curious@'%';\nGRANT PROCESS ON *.* TO curious@'%'"
    )
    source = await shop.connect(database.url("curious"))
    assert (source.kind, source.only_schema, source.place) == (
        "mysql", "shop", f"shop on 127.0.0.1:{database.server.port}",
    )  # fmt: skip
    found = await shop.sources.look(source, SECRET)
    assert found.overruled == ()
    assert (found.identity.role, found.identity.database, found.identity.encrypted) == (
        "curious",
        "shop",
        False,
    )
    assert found.identity.server_version > 10_00_00
    assert [t.shown for t in found.tables] == ["shop.customers", "shop.orders"]
    assert found.remarks == [
        "It can create temporary tables.",
        "It also has the privileges `LOCK TABLES`, `PROCESS`, which change no data.",
        "It can also see the schemas `aside`.",
    ]
    other = await shop.connect(database.url("curious"), only_schema="aside", name="aside")
    assert (await shop.sources.look(other, SECRET)).tables == ()


async def test_columns_that_may_not_be_read_are_not_there(database: MariaDatabase, shop: Shop) -> None:
    database.execute(
        f"CREATE USER narrow@'%' IDENTIFIED BY '{SECRET}';\nGRANT SELECT (no, amount) ON shop.orders TO narrow@'%'"
    )
    source = await shop.connect(database.url("narrow"))
    (table,) = (await shop.sources.look(source, SECRET)).tables
    assert [column.name for column in table.columns] == ["no", "amount"]
    assert (await shop.snapshot("orders")).record.dataset.tables[0].rows == 1000


async def test_a_default_role_gives_what_can_be_read(database: MariaDatabase, shop: Shop) -> None:
    database.execute(
        f"CREATE USER plain@'%' IDENTIFIED BY '{SECRET}';\nCREATE ROLE readers;\nGRANT SELECT ON shop.* TO readers;\n"
        "CREATE ROLE others;\nGRANT others TO plain@'%';\nGRANT readers TO plain@'%';\n"
        "SET DEFAULT ROLE readers FOR plain@'%'"
    )
    await shop.connect(database.url("plain"))
    assert (await shop.snapshot("orders")).outcome == "added"


async def test_the_preflight_leaves_no_trace(database: MariaDatabase, shop: Shop) -> None:
    database.reader("maker", "shop")
    database.execute("GRANT ALL ON shop.* TO maker@'%'")
    tables = "SELECT TABLE_NAME, UPDATE_TIME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop'"
    before = database.execute(tables)
    await shop.connect(database.url("maker"), allowed_writer="maker")
    assert database.execute(tables) == before


async def test_a_user_that_becomes_a_writer_is_refused_later(database: MariaDatabase, shop: Shop) -> None:
    database.reader("turncoat", "shop")
    await shop.connect(database.url("turncoat"))
    database.execute("GRANT INSERT ON shop.orders TO turncoat@'%'")
    with pytest.raises(InvalidInput, match="more than read"):
        await shop.snapshot("orders")
    assert shop.is_untouched()


async def test_a_view_that_would_write_does_not(database: MariaDatabase, shop: Shop) -> None:
    """In a transaction that only reads, the database does not even describe it."""
    database.schema(
        "tricky",
        """CREATE TABLE log (x INT);
CREATE FUNCTION writes() RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO tricky.log VALUES (1); RETURN 1; END;
CREATE VIEW v AS SELECT tricky.writes() AS x""",
    )
    database.execute("GRANT EXECUTE ON tricky.* TO tricky@'%'")
    source = await shop.connect(database.url("tricky", schema="tricky"), allowed_writer="tricky")
    found = await shop.sources.look(source, SECRET)
    assert [table.name for table in found.tables] == ["log"]
    with pytest.raises(InvalidInput, match="can read no table `v`"):
        await shop.snapshot("v")
    assert database.execute("SELECT count(*) FROM tricky.log") == [(0,)]


# The password


async def test_the_password_is_in_its_file_and_nowhere_else(database: MariaDatabase, shop: Shop) -> None:
    wrong = f"{SECRET}-wrong"
    errors: list[SandtableError] = []
    with structlog.testing.capture_logs() as logs:
        source = await shop.connect(database.url("reader"))
        await shop.snapshot("orders")
        for url in (
            database.url("reader", wrong),
            database.url("nobody_there", wrong),
            database.url("reader", wrong, schema="nothing"),
            database.url("reader", wrong).replace(str(database.server.port), "1"),
            database.url("reader", wrong, "?sslmode=require"),
            f"mysql://reader:{wrong}@127.0.0.1:port/x",
            f"mysql://reader:{wrong}@/x?what=1",
        ):
            with pytest.raises(SandtableError) as caught:
                await shop.connect(url, name="other")
            errors.append(caught.value)
    said = [
        json.dumps(each.problem.model_dump(mode="json")) + repr(each) + repr(each.__cause__)
        for each in errors
    ]
    said += [repr(logs), repr(source), source.model_dump_json()]
    assert not [text for text in said if SECRET in text]
    assert "Access denied" in errors[0].message
    files = [path for path in shop.home.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert files == [shop.home / "sources" / "shop.password"]
    assert files[0].stat().st_mode & 0o777 == 0o600
    await shop.sources.disconnect("shop")
    assert list((shop.home / "sources").iterdir()) == []


async def test_any_password_is_sent_as_it_is(database: MariaDatabase, shop: Shop) -> None:
    database.reader("odd", "shop")
    database.execute("ALTER USER odd@'%' IDENTIFIED BY 'ÿ€🐘\"''`%s'")
    await shop.connect(database.url("odd", "%C3%BF%E2%82%AC%F0%9F%90%98%22%27%60%25s"))


# Encryption


@pytest.fixture(scope="module")
def encrypted() -> Iterator[tuple[MariaDatabase, Path]]:
    """A server with a certificate for `localhost`, and the file of the authority that signed it."""
    folder = Path(tempfile.mkdtemp(prefix="mariadb-tls-", dir="/tmp"))
    try:
        roots = certificates(folder)
        # The server is another user.
        folder.chmod(0o755)
        for path in folder.iterdir():
            path.chmod(0o644)
        with shop_server((f"ssl-cert={folder}/server.crt", f"ssl-key={folder}/server.key")) as database:
            yield database, roots
    finally:
        shutil.rmtree(folder)


async def test_a_verified_connection_proves_the_servers_name(
    encrypted: tuple[MariaDatabase, Path], shop: Shop
) -> None:
    database, roots = encrypted
    url = database.url("reader", options=f"?sslmode=verify-full&sslrootcert={roots}")
    with pytest.raises(SourceRefused) as caught:
        # The certificate is for `localhost`.
        await shop.connect(url)
    assert "sslrootcert" in caught.value.suggestion
    source = await shop.connect(url.replace("127.0.0.1", "localhost"))
    assert (await shop.sources.look(source, SECRET)).identity.encrypted
    assert (await shop.snapshot("orders", "customers")).outcome == "added"
    for_any_name = await shop.connect(url.replace("verify-full", "verify-ca"))
    assert (await shop.sources.look(for_any_name, SECRET)).identity.encrypted
    database.execute("ALTER USER reader@'%' REQUIRE SSL")
    with pytest.raises(SourceRefused, match="Access denied"):
        await shop.connect(database.url("reader", options="?sslmode=disable"))


async def test_a_certificate_of_an_unknown_authority_is_refused(
    encrypted: tuple[MariaDatabase, Path], shop: Shop
) -> None:
    database, _ = encrypted
    url = database.url("reader", options="?sslmode=verify-full").replace("127.0.0.1", "localhost")
    with pytest.raises(SourceRefused, match=r"(?i)certificate"):
        await shop.connect(url)


async def test_without_encryption_a_server_that_must_be_encrypted_is_refused(
    database: MariaDatabase, shop: Shop
) -> None:
    with pytest.raises(SourceRefused, match="SSL"):
        await shop.connect(database.url("reader", options="?sslmode=require"))
