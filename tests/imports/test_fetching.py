"""Files from addresses: which addresses, how large, how slow, and what they are called."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address
from pathlib import Path

import pytest

from sandtable.catalog.own.uploads import TooLarge, Upload, UploadLimits, Uploads
from sandtable.catalog.reading.filenames import FetchedFrom
from sandtable.imports.by_address import USER, Addresses
from sandtable.imports.fetching import Fetcher, NotFetched
from sandtable.imports.public_addresses import CheckedConnections, NotPublic, is_public

MB = 1 << 20
CSV = b"id,n\n1,one\n"
PUBLIC, PRIVATE = "127.0.0.1", "127.0.0.2"
"""A server on a loopback address plays one on a public address; another loopback address stays a private one."""


def answer(body: bytes = CSV, status: str = "200 OK", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    if "Content_Length" not in headers:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode("utf-8") + body


class Site:
    """Answers each path with bytes, or by writing to the connection."""

    def __init__(self) -> None:
        self.answers: dict[str, bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]] = {}
        self.port = 0
        self.asked: list[str] = []
        self.heads: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            path = head.split(" ")[1]
            self.asked.append(path)
            self.heads.append(head)
            given = self.answers.get(path, answer(b"", "404 Not Found"))
            if isinstance(given, bytes):
                writer.write(given)
                await writer.drain()
            else:
                await given(writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def site(host: str = PUBLIC) -> AsyncIterator[Site]:
    made = Site()
    server = await asyncio.start_server(made.serve, host, 0)
    made.port = server.sockets[0].getsockname()[1]
    async with server:
        yield made


@pytest.fixture
async def public() -> AsyncIterator[Site]:
    async with site() as made:
        yield made


@pytest.fixture
def uploads(tmp_path: Path) -> Uploads:
    return Uploads(tmp_path / "data", UploadLimits(MB, 8 * MB, 3600))


async def resolve(host: str, port: int) -> Sequence[str]:
    return {"public.test": [PUBLIC], "private.test": [PRIVATE], "both.test": [PUBLIC, PRIVATE]}.get(
        host, [host]
    )


def fetcher(uploads: Uploads, timeout_s: float = 20.0) -> Fetcher:
    return Fetcher(
        uploads, CheckedConnections(lambda address: address == ip_address(PUBLIC), resolve), timeout_s
    )


async def fetch(uploads: Uploads, url: str, timeout_s: float = 20.0) -> Upload:
    return await fetcher(uploads, timeout_s).fetch(url, "@me", lambda done, total: None)


async def test_a_file_becomes_an_upload(uploads: Uploads, public: Site) -> None:
    public.answers["/data/orders.csv?v=1"] = answer()
    upload = await fetch(uploads, f"http://public.test:{public.port}/data/orders.csv?v=1#top")
    assert (upload.name, upload.bytes, upload.complete) == ("orders.csv", len(CSV), True)
    assert uploads.path(upload.id).read_bytes() == CSV


@pytest.mark.parametrize(
    ("headers", "path", "name"),
    [
        ({"Content_Disposition": 'attachment; filename="a b.csv"'}, "/x", "a b.csv"),
        ({"Content_Disposition": "attachment; filename*=UTF-8''%C3%A4.csv"}, "/x", "ä.csv"),
        ({"Content_Disposition": 'attachment; filename="../../etc/x.csv"'}, "/x", "x.csv"),
        ({"Content_Disposition": "inline"}, "/x%20y.tsv", "x y.tsv"),
        ({"Content_Type": "text/csv; charset=utf-8"}, "/export", "export.csv"),
        ({"Content_Type": "application/json"}, "/", "data.json"),
        ({"Content_Encoding": "gzip"}, "/a.csv", "a.csv.gz"),
        ({"Content_Encoding": "gzip"}, "/a.csv.gz", "a.csv.gz"),
        ({}, "/..%2f..%2fpasswd", "passwd"),
    ],
)
async def test_what_a_file_is_called(
    uploads: Uploads, public: Site, headers: dict[str, str], path: str, name: str
) -> None:
    public.answers[path] = answer(CSV, **headers)
    assert (await fetch(uploads, f"http://public.test:{public.port}{path}")).name == name


async def test_redirects_are_followed_to_public_addresses(uploads: Uploads, public: Site) -> None:
    public.answers["/a"] = answer(b"", "302 Found", Location="/b")
    public.answers["/b"] = answer(
        b"x" * 100_000, "301 Moved", Location=f"http://public.test:{public.port}/c.csv"
    )
    public.answers["/c.csv"] = answer()
    assert (await fetch(uploads, f"http://public.test:{public.port}/a")).name == "c.csv"
    public.answers["/loop"] = answer(b"", "307 Again", Location="/loop")
    with pytest.raises(NotFetched, match="redirects more than 5 times"):
        await fetch(uploads, f"http://public.test:{public.port}/loop")


@pytest.mark.parametrize(
    "target", ["http://private.test:{0}/x.csv", "http://127.0.0.2:{0}/x.csv", "//127.0.0.2:{0}/"]
)
async def test_a_redirect_to_a_private_address_is_refused(
    uploads: Uploads, public: Site, target: str
) -> None:
    async with site(PRIVATE) as private:
        private.answers["/x.csv"] = answer(b"secret")
        public.answers["/a"] = answer(b"", "302 Found", Location=target.format(private.port))
        with pytest.raises(NotPublic, match="not a public address"):
            await fetch(uploads, f"http://public.test:{public.port}/a")
        assert private.asked == []
    assert list(uploads.all()) == []


async def test_a_name_with_a_private_address_among_others_is_refused(uploads: Uploads, public: Site) -> None:
    with pytest.raises(NotPublic):
        await fetch(uploads, f"http://both.test:{public.port}/orders.csv")
    assert public.asked == []


async def test_a_name_that_changes_its_address_is_resolved_once(uploads: Uploads, public: Site) -> None:
    """DNS rebinding: the first look-up is public, every later one is not."""
    public.answers["/a.csv"] = answer()
    answers = iter([[PUBLIC]])

    async def rebinding(host: str, port: int) -> Sequence[str]:
        return next(answers, [PRIVATE])

    connections = CheckedConnections(lambda address: address == ip_address(PUBLIC), rebinding)
    fetched = await Fetcher(uploads, connections, 20).fetch(
        f"http://rebind.test:{public.port}/a.csv", "@me", lambda done, total: None
    )
    assert fetched.complete


@pytest.mark.parametrize(
    "url",
    ["http://localhost:1/x.csv", "http://127.0.0.1:1/", "http://[::1]:1/", "http://2130706433:1/", "http://0:1/",
     "http://169.254.169.254/latest/meta-data", "http://[::ffff:10.0.0.1]/", "http://10.0.0.1/"],
)  # fmt: skip
async def test_no_private_address_is_connected_to(uploads: Uploads, url: str) -> None:
    with pytest.raises(NotPublic):
        await Fetcher(uploads, CheckedConnections(), 20).fetch(url, "@me", lambda done, total: None)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True), ("2001:4860:4860::8888", True), ("127.0.0.1", False), ("10.1.2.3", False),
        ("172.16.0.1", False), ("192.168.1.1", False), ("169.254.169.254", False), ("100.64.0.1", False),
        ("0.0.0.0", False), ("224.0.0.1", False), ("255.255.255.255", False), ("::1", False), ("::", False),
        ("fe80::1", False), ("fc00::1", False), ("ff02::1", False), ("::ffff:127.0.0.1", False),
        ("::ffff:8.8.8.8", True), ("64:ff9b::7f00:1", False), ("64:ff9b::808:808", True),
        ("2002:7f00:1::", False), ("2001:0:1::1", False),
    ],
)  # fmt: skip
def test_which_addresses_are_public(address: str, public: bool) -> None:
    assert is_public(ip_address(address)) == public


@pytest.mark.parametrize(
    "url", ["ftp://example.org/x", "file:///etc/passwd", "example.org/x.csv", "http://", "http://me:pw@example.org/x",
            "https://" + "x" * 5000, "http://exa mple.org/", "http://[fe80::1%eth0]/", "http://exa%2emple.org/",
            "javascript:alert(1)", ""],
)  # fmt: skip
async def test_what_is_no_address(uploads: Uploads, url: str) -> None:
    with pytest.raises(NotFetched, match="is not an address"):
        await fetch(uploads, url)


async def test_a_file_that_is_too_large_is_not_kept(uploads: Uploads, public: Site) -> None:
    public.answers["/a.csv"] = answer(b"", Content_Length=str(MB + 1))
    with pytest.raises(TooLarge):
        await fetch(uploads, f"http://public.test:{public.port}/a.csv")

    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()

    public.answers["/b.csv"] = endless
    with pytest.raises(TooLarge):
        await fetch(uploads, f"http://public.test:{public.port}/b.csv")
    assert list(uploads.all()) == []


async def test_a_server_that_is_slow_for_ever_is_given_up(uploads: Uploads, public: Site) -> None:
    async def drips(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    public.answers["/a.csv"] = drips
    with pytest.raises(NotFetched, match=r"within 0\.5 s"):
        await fetch(uploads, f"http://public.test:{public.port}/a.csv", timeout_s=0.5)
    assert list(uploads.all()) == []


async def test_a_file_that_ends_too_early_is_not_kept(uploads: Uploads, public: Site) -> None:
    public.answers["/a.csv"] = answer(CSV, Content_Length="1000")
    with pytest.raises(NotFetched, match="broke the connection"):
        await fetch(uploads, f"http://public.test:{public.port}/a.csv")
    assert list(uploads.all()) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (answer(b"no", "403 Forbidden"), "status 403"),
        (answer(b"", "204 No Content"), "status 204"),
        (answer(b"<html>", Content_Type="text/html"), "a web page"),
        (answer(b"x", Content_Encoding="br"), "an encoding"),
        (answer(b"", "302 Found"), "is not an address"),
        (b"not http at all\r\n\r\n", "cannot be reached"),
        (b"", "cannot be reached"),
    ],
)
async def test_answers_that_are_no_file(uploads: Uploads, public: Site, given: bytes, said: str) -> None:
    public.answers["/a.csv"] = given
    with pytest.raises(NotFetched, match=said):
        await fetch(uploads, f"http://public.test:{public.port}/a.csv")
    assert list(uploads.all()) == []


async def test_a_server_that_is_not_there(uploads: Uploads) -> None:
    with pytest.raises(NotFetched, match="cannot be reached"):
        await fetch(uploads, "http://public.test:1/a.csv")


async def test_a_file_that_has_not_changed_is_not_fetched_again(uploads: Uploads, public: Site) -> None:
    address = f"http://public.test:{public.port}/a.csv"
    public.answers["/a.csv"] = answer(ETag='"one"', Last_Modified="Wed, 21 Oct 2015 07:28:00 GMT")
    known = FetchedFrom(address=address, etag='"one"', modified="Wed, 21 Oct 2015 07:28:00 GMT")
    first = await fetch(uploads, address)
    assert first.fetched == known and uploads.find(first.id).fetched == known
    public.answers["/a.csv"] = answer(b"", "304 Not Modified")
    assert await fetcher(uploads).fetch_again(known, "@me", lambda done, total: None) is None
    assert (
        public.heads[-1].count('If-None-Match: "one"') == 1 and "If-Modified-Since: Wed" in public.heads[-1]
    )
    with pytest.raises(NotFetched, match="status 304"):
        await fetch(uploads, address)
    assert "If-None-Match" not in public.heads[-1]


async def test_a_tag_that_cannot_be_sent_back_is_not_kept(uploads: Uploads, public: Site) -> None:
    public.answers["/a.csv"] = answer(ETag='"' + "x" * 600 + '"', Last_Modified="ä")
    upload = await fetch(uploads, f"http://public.test:{public.port}/a.csv")
    assert upload.fetched is not None and (upload.fetched.etag, upload.fetched.modified) == ("", "")


async def test_what_a_killed_command_left_is_removed(uploads: Uploads, public: Site) -> None:
    public.answers["/a.csv"] = answer()
    left, others = uploads.begin("x.csv", 3, USER), uploads.begin("y.csv", 3, "ann")
    for each in (left, others):
        os.utime(uploads.path(each.id), (0, 0))
    addresses = Addresses(uploads, fetcher(uploads))
    address = f"http://public.test:{public.port}/a.csv"
    async with addresses.fetched([address], lambda done, total: None) as files:
        assert files[address].path.read_bytes() == CSV and files[address].table == "a"
    assert [upload.id for upload in uploads.all()] == [others.id]
