"""Servers that are no MariaDB, or an evil one: an error for people, in bounded time, and nothing given away."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from sandtable.errors import RunnerBroken, SandtableError
from sandtable.sources import session
from sandtable.sources.troubles import SourceRefused, SourceTimeout
from tests.sources.conftest import SECRET, Shop

pytestmark = pytest.mark.needs("userns")

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
_SSL = 1 << 11
_CAPABILITIES = 0x0008_A201 | 1 << 21
"""Protocol 4.1 with methods of authentication, without TLS."""
SALT = b"abcdefghijklmnopqrst"


def packet(number: int, body: bytes) -> bytes:
    return struct.pack("<I", len(body))[:3] + bytes([number]) + body


def greeting(method: str = "mysql_native_password", capabilities: int = _CAPABILITIES) -> bytes:
    low, high = capabilities & 0xFFFF, capabilities >> 16
    body = b"\x0a10.11.0-MariaDB\0" + struct.pack("<I", 7) + SALT[:8] + b"\0"
    body += struct.pack("<HBHHB", low, 45, 2, high, 21) + b"\0" * 10 + SALT[8:] + b"\0"
    return packet(0, body + method.encode() + b"\0")


def switch(method: str) -> bytes:
    return b"\xfe" + method.encode() + b"\0" + SALT + b"\0"


OK = b"\0\0\0\2\0\0\0"
ERROR = b"\xff\x15\x04#28000the password is " + SECRET.encode()


@asynccontextmanager
async def server(serve: Serve) -> AsyncIterator[str]:
    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    try:
        yield f"mysql://reader:{SECRET}@127.0.0.1:{port}/shop"
    finally:
        listening.close()


def answering(*answers: bytes, greeted: bytes = greeting(), received: bytearray | None = None) -> Serve:
    """Greets, and answers each message in turn. The last answer is that of all further ones."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeted)
        left = list(answers)
        while message := await reader.read(4096):
            if received is not None:
                received.extend(message)
            writer.write(left.pop(0) if len(left) > 1 else left[0])
        writer.close()

    return serve


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\0" * 100_000,
        b"\xff" * 100_000,
        packet(0, b""),
        packet(0, b"\x0a"),
        packet(0, b"\x0b10.0\0"),
        packet(0, b"\x0aabc.def\0" + b"\0" * 60),
        packet(5, b"\x0a10.0\0"),
        packet(0, ERROR),
        greeting() + packet(2, b"\xfe"),
        greeting() + packet(2, b"\x01\x04"),
        greeting() + packet(2, b""),
        greeting() + packet(2, b"\xfb/etc/passwd"),
        greeting("caching_sha2_password") + packet(2, b"\x01\x04") + packet(4, b"\x01no key"),
        greeting() + packet(2, switch("a_method_of_its_own")),
        greeting() + packet(2, switch("mysql_old_password")),
        greeting() + packet(2, switch("client_ed25519")),
        greeting() + packet(2, ERROR),
    ],
    ids=[
        "closes", "is-a-web-server", "sends-zeros", "sends-ones", "greets-with-nothing", "is-cut-short",
        "has-another-protocol", "has-no-version", "begins-in-the-middle", "quotes-the-password-first",
        "switches-to-nothing", "wants-more", "answers-nothing", "wants-a-file-to-sign-in", "sends-no-key",
        "has-a-method-of-its-own", "has-a-weak-method", "wants-a-signature", "quotes-the-password",
    ],
)  # fmt: skip
async def test_what_is_no_database_is_refused(shop: Shop, answer: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        with suppress(TimeoutError):  # A client that waits for more sends nothing.
            await asyncio.wait_for(reader.read(4096), 5)
        writer.close()

    async with server(serve) as url:
        with pytest.raises((SourceRefused, RunnerBroken)) as caught:
            await asyncio.wait_for(shop.connect(url), 30)
    assert SECRET not in str(caught.value.problem)
    assert shop.is_untouched()
    assert shop.sources.records.list() == ()


async def test_a_file_that_a_server_asks_for_is_not_sent(shop: Shop) -> None:
    """`LOAD DATA LOCAL INFILE`: the answer to any statement may ask a client for a file of its choice."""
    received = bytearray()
    asked = answering(
        packet(2, OK), packet(1, OK), packet(1, b"\xfb/proc/self/environ"), packet(1, OK), received=received
    )
    async with server(asked) as url:
        with pytest.raises(RunnerBroken, match="LOAD_LOCAL"):
            await asyncio.wait_for(shop.connect(url), 30)
    # The last that it sent is the statement that was answered so.
    assert bytes(received).endswith(b"SET SESSION sql_mode = ''")
    flags = struct.unpack_from("<I", received, 4)[0]
    assert flags & (1 << 7 | 1 << 16) == 0, "it offers to send files, or takes several statements at once"


@pytest.mark.parametrize(
    "rows",
    [
        packet(1, b"\x03") + packet(2, b"broken") + packet(3, b"\xfe\0\0\2\0"),
        packet(1, b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f"),
        packet(1, b"\x01") + packet(1, b"out of turn"),
    ],
    ids=["describes-nothing", "has-columns-without-end", "is-out-of-turn"],
)
async def test_garbage_after_signing_in_is_refused(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, rows: bytes
) -> None:
    monkeypatch.setattr(session, "_CONNECT_S", 2)
    async with server(answering(packet(2, OK), packet(1, OK), rows)) as url:
        with pytest.raises((SourceRefused, RunnerBroken, SourceTimeout)):
            await asyncio.wait_for(shop.connect(url), 30)


@pytest.mark.parametrize("method", ["mysql_clear_password", "dialog"])
async def test_a_password_is_not_sent_in_the_clear(shop: Shop, method: str) -> None:
    received = bytearray()
    prompt = b"\x04Password: " if method == "dialog" else b""
    answers = answering(packet(2, b"\xfe" + method.encode() + b"\0" + prompt), b"", received=received)
    async with server(answers) as url:
        with pytest.raises(SourceRefused) as caught:
            await shop.connect(url)
    assert b"reader" in received
    assert SECRET.encode() not in received
    assert "in the clear" in caught.value.suggestion


@pytest.mark.parametrize("method", ["sha256_password", "caching_sha2_password"])
@pytest.mark.parametrize("when", ["at-once", "by-a-switch"])
async def test_another_machine_gets_no_password_for_its_key(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, method: str, when: str
) -> None:
    """Whoever holds that key reads the password, and nothing says who that is."""
    monkeypatch.setattr(session, "is_here", lambda _: False)
    received = bytearray()
    greeted = greeting(method if when == "at-once" else "mysql_native_password")
    answers = answering(packet(2, switch(method)), b"", greeted=greeted, received=received)
    async with server(answers) as url:
        with pytest.raises(SourceRefused) as caught:
            await shop.connect(url)
    assert "authentication method" in caught.value.message
    # One message alone, signed by the method that gives nothing away.
    assert received.count(b"mysql_native_password") == 1
    assert b"reader" in received
    assert len(received) < 300


async def test_a_server_on_this_machine_gets_it_for_its_key(shop: Shop) -> None:
    """As MySQL 8 does by default, when it does not remember a user. Everything that this needs is loaded before the
    seal."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    received: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting("caching_sha2_password"))
        await reader.read(4096)
        writer.write(packet(2, b"\x01\x04"))
        assert await reader.read(4096) == packet(3, b"\x02")
        writer.write(packet(4, b"\x01" + key.public_key().public_bytes(*form)))
        received.append(await reader.read(4096))
        writer.close()

    async with server(serve) as url:
        with pytest.raises(SourceRefused):
            await asyncio.wait_for(shop.connect(url), 30)
    hidden = padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA1(), None)
    plain = key.decrypt(received[0][4:], hidden)
    assert bytes(a ^ b for a, b in zip(plain, SALT * 2, strict=False)) == SECRET.encode() + b"\0"


async def test_a_server_that_never_answers_is_given_up(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_CONNECT_S", 2)
    gone = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting())
        while await reader.read(4096):
            pass
        writer.close()
        gone.set()

    async with server(serve) as url:
        with pytest.raises(SandtableError) as caught:
            await asyncio.wait_for(shop.connect(url), 20)
        await asyncio.wait_for(gone.wait(), 5)
    assert "connecting" in caught.value.message.lower()


async def test_a_server_that_sends_without_end_takes_no_memory_of_ours(shop: Shop) -> None:
    """It fills a worker, whose memory is limited; the relay holds no more than a few pieces."""
    sent = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        number = 0
        try:
            while True:
                writer.write(packet(number % 256, b"M" * 0xFFFFFF))
                await writer.drain()
                sent += 1 << 24
                number += 1
        except ConnectionError:
            writer.close()

    async with server(serve) as url:
        with pytest.raises(SandtableError):
            await asyncio.wait_for(shop.connect(url), 60)
    assert sent < 1 << 30
