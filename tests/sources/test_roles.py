"""The preflight over real roles, and the address, the password and the certificate over a real connection."""

from __future__ import annotations

import asyncio
import datetime
import json
import os
import pwd
import re
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sandtable.errors import InvalidInput, NotFound, SandtableError
from sandtable.sources.address import read_address
from sandtable.sources.records import source_of
from sandtable.sources.troubles import SourceRefused
from tests import postgres
from tests.sources.conftest import SECRET, SHOP, Database, Shop, database_of, started

pytestmark = pytest.mark.needs("postgres", "userns")

WRITERS = {
    "inserts": ("GRANT INSERT ON shop.orders TO {r}", "can change `shop.orders`"),
    "updates_a_column": ("GRANT UPDATE (city) ON shop.customers TO {r}", "can change `shop.customers`"),
    "truncates": ("GRANT TRUNCATE ON shop.orders TO {r}", "can change `shop.orders`"),
    "advances_a_sequence": (
        "CREATE SEQUENCE IF NOT EXISTS shop.numbers; GRANT USAGE ON shop.numbers TO {r}",
        "can change `shop.numbers`",
    ),
    "owns_a_table": (
        "CREATE TABLE shop.owned (x int); ALTER TABLE shop.owned OWNER TO {r}; REVOKE ALL ON shop.owned FROM {r}",
        "can change `shop.owned`",
    ),
    "creates_tables": ("GRANT CREATE ON SCHEMA shop TO {r}", "can create tables in `shop`"),
    "creates_schemas": ("GRANT CREATE ON DATABASE postgres TO {r}", "can create schemas"),
    "creates_roles": ("ALTER ROLE {r} CREATEROLE", "can create roles"),
    "superuser": ("ALTER ROLE {r} SUPERUSER", "is a superuser"),
    "reads_files": ("GRANT pg_read_server_files TO {r}", "files of the database's server"),
    "runs_programs": ("GRANT pg_execute_server_program TO {r}", "files of the database's server"),
    "writes_all": ("GRANT pg_write_all_data TO {r}", "predefines"),
    "may_become_a_writer": (
        "CREATE ROLE hidden_writer; GRANT DELETE ON shop.orders TO hidden_writer;"
        " ALTER ROLE {r} NOINHERIT; GRANT hidden_writer TO {r}",
        "can change `shop.orders`",
    ),
    "seems_read_only": (
        "GRANT INSERT ON shop.orders TO {r}; ALTER ROLE {r} SET default_transaction_read_only = on",
        "can change `shop.orders`",
    ),
}


@pytest.mark.parametrize("kind", WRITERS)
async def test_a_role_that_can_write_is_refused(database: Database, shop: Shop, kind: str) -> None:
    grant, reason = WRITERS[kind]
    role = f"role_{kind}"
    database.reader(role, "shop")
    database.execute(grant.format(r=role))
    with pytest.raises(InvalidInput) as caught:
        await shop.connect(database.url(role))
    assert f"role `{role}` can do more than read" in caught.value.message
    assert reason in caught.value.message
    assert re.search(r'GRANT SELECT ON ALL TABLES IN SCHEMA "\w+" TO "shop_reader";', caught.value.suggestion)
    assert "--allow-writer" in caught.value.suggestion
    with pytest.raises(NotFound):
        shop.sources.records.get("shop")
    # Only the name itself overrules it.
    with pytest.raises(InvalidInput):
        await shop.connect(database.url(role), allowed_writer=f"{role}x")
    source = await shop.connect(database.url(role), allowed_writer=role)
    found = await shop.sources.look(source, SECRET)
    assert any(reason in each.replace("it ", "", 1) or reason in each for each in found.overruled)


async def test_a_reader_is_told_what_it_can_see(database: Database, shop: Shop) -> None:
    database.execute("CREATE SCHEMA IF NOT EXISTS aside; GRANT USAGE ON SCHEMA aside TO reader")
    source = await shop.connect(database.url("reader"), only_schema="shop")
    found = await shop.sources.look(source, SECRET)
    assert found.overruled == ()
    assert [t.shown for t in found.tables] == ["shop.customers", "shop.orders"]
    assert any("temporary tables" in each for each in found.remarks)
    assert any("`aside`" in each for each in found.remarks)


async def test_the_preflight_leaves_no_trace(database: Database, shop: Shop) -> None:
    database.reader("maker", "shop")
    database.execute("GRANT CREATE ON SCHEMA shop TO maker")
    before = database.execute("SELECT count(*) FROM pg_class")
    await shop.connect(database.url("maker"), allowed_writer="maker")
    assert database.execute("SELECT count(*) FROM pg_class") == before


async def test_a_role_that_becomes_a_writer_is_refused_later(database: Database, shop: Shop) -> None:
    database.reader("turncoat", "shop")
    await shop.connect(database.url("turncoat"))
    database.execute("GRANT INSERT ON shop.orders TO turncoat")
    with pytest.raises(InvalidInput, match="more than read"):
        await shop.snapshot("orders")
    assert shop.is_untouched()


async def test_the_name_of_a_dataset_is_not_taken(database: Database, shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("a\n1\n")
    await shop.parts.datasets.add_own([tmp_path / "mine.csv"])
    for name in ("mine", "ecommerce"):
        with pytest.raises(InvalidInput, match="not from this source"):
            await shop.connect(database.url("reader"), name=name)


# The password


async def test_the_password_is_in_its_file_and_nowhere_else(
    database: Database, shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    wrong = f"{SECRET}-wrong"
    told: list[SandtableError] = []
    with structlog.testing.capture_logs() as logs:
        source = await shop.connect(database.url("reader"))
        await shop.snapshot("orders")
        for url in (
            database.url("reader", wrong),
            database.url("nobody_there", wrong),
            database.url("reader", wrong).replace("/postgres", "/nothing"),
            database.url("reader", wrong).replace(str(database.port), "1"),
            database.url("reader", wrong, "?sslmode=require"),
            f"postgresql://reader:{wrong}@127.0.0.1:port/x",
            f"postgresql://reader:{wrong}@/x?what=1",
            f"mysql://reader:{wrong}@127.0.0.1/x",
        ):
            with pytest.raises(SandtableError) as caught:
                await shop.connect(url, name="other")
            told.append(caught.value)
    said += [json.dumps(each.problem.model_dump(mode="json")) for each in told]
    said += [repr(each) + repr(each.__cause__) for each in told]
    said += [repr(logs), repr(source), source.model_dump_json()]
    assert not [text for text in said if SECRET in text]
    files = [path for path in shop.home.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert files == [shop.home / "sources" / "shop.password"]
    assert files[0].stat().st_mode & 0o777 == 0o600
    assert files[0].parent.stat().st_mode & 0o777 == 0o700
    await shop.sources.disconnect("shop")
    assert list((shop.home / "sources").iterdir()) == []
    assert shop.parts.datasets.own.find("shop") is not None


async def test_a_named_variable_is_the_only_place(
    database: Database, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_PASSWORD", SECRET)
    address = read_address(database.url("reader").replace(f":{SECRET}", ""))
    source = source_of(address, "shop", only_schema="", password_env="SHOP_PASSWORD", allowed_writer="")
    await shop.sources.connect(source, SECRET)
    assert (await shop.snapshot("orders")).outcome == "added"
    assert not [p for p in shop.home.rglob("*") if p.is_file() and SECRET.encode() in p.read_bytes()]
    monkeypatch.delenv("SHOP_PASSWORD")
    with pytest.raises(InvalidInput, match="SHOP_PASSWORD has no password"):
        await shop.snapshot("orders")


# Encryption


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Database, Path]]:
    """A server with a certificate for `localhost`, and the file of the authority that signed it."""
    folder = tmp_path_factory.mktemp("certificates")
    roots = certificates(folder)
    cluster, port = started()
    with cluster as address:
        database = database_of(address, port)
        for name in ("server.crt", "server.key"):
            path = database.folder / "data" / name
            shutil.copy(folder / name, path)
            path.chmod(0o600)
            if os.geteuid() == 0:
                account = pwd.getpwnam(postgres.ORDINARY_ACCOUNT)
                os.chown(path, account.pw_uid, account.pw_gid)
        database.execute("ALTER SYSTEM SET ssl = on")
        database.execute("SELECT pg_reload_conf()")
        database.execute(SHOP)
        database.reader("reader", "shop")
        yield database, roots


async def test_a_verified_connection_proves_the_servers_name(
    encrypted: tuple[Database, Path], shop: Shop
) -> None:
    database, roots = encrypted
    options = f"?sslmode=verify-full&sslrootcert={roots}"
    url = database.url("reader", options=options)
    with pytest.raises(SourceRefused) as caught:
        # The certificate is for `localhost`.
        await shop.connect(url)
    assert "sslrootcert" in caught.value.suggestion
    source = await shop.connect(url.replace("127.0.0.1", "localhost"))
    assert (await shop.sources.look(source, SECRET)).identity.encrypted
    assert (await shop.snapshot("orders", "customers")).outcome == "added"


async def test_a_certificate_of_an_unknown_authority_is_refused(
    encrypted: tuple[Database, Path], shop: Shop
) -> None:
    database, _ = encrypted
    url = database.url("reader", options="?sslmode=verify-full").replace("127.0.0.1", "localhost")
    with pytest.raises(SourceRefused, match="certificate"):
        await shop.connect(url)


async def test_without_encryption_a_server_that_must_be_encrypted_is_refused(
    database: Database, shop: Shop
) -> None:
    with pytest.raises(SourceRefused, match="SSL"):
        await shop.connect(database.url("reader", options="?sslmode=require"))


async def test_a_password_is_not_sent_in_the_clear(shop: Shop) -> None:
    """A server that asks for it so, and has not proven its name, gets nothing."""
    received = bytearray()

    async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.extend(await reader.read(4096))
        writer.write(b"R" + struct.pack(">II", 8, 3))
        while piece := await reader.read(4096):
            received.extend(piece)
        writer.close()

    server = await asyncio.start_server(ask, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    with pytest.raises(SourceRefused) as caught:
        await shop.connect(f"postgresql://reader:{SECRET}@127.0.0.1:{port}/postgres")
    server.close()
    assert b"reader" in received
    assert SECRET.encode() not in received
    assert "in the clear" in caught.value.suggestion


def certificates(folder: Path) -> Path:
    now = datetime.datetime.now(datetime.UTC)
    names = {
        who: x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, who)]) for who in ("authority", "localhost")
    }
    keys = {who: ec.generate_private_key(ec.SECP256R1()) for who in names}

    def signed(who: str, *extensions: x509.ExtensionType) -> bytes:
        builder = (
            x509.CertificateBuilder()
            .subject_name(names[who])
            .issuer_name(names["authority"])
            .public_key(keys[who].public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=2))
        )
        for extension in extensions:
            builder = builder.add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
        return builder.sign(keys["authority"], hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    (folder / "roots.pem").write_bytes(signed("authority", x509.BasicConstraints(ca=True, path_length=None)))
    (folder / "server.crt").write_bytes(
        signed("localhost", x509.SubjectAlternativeName([x509.DNSName("localhost")]))
    )
    (folder / "server.key").write_bytes(
        keys["localhost"].private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return folder / "roots.pem"
