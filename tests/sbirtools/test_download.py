"""The awards come whole or not at all, however the line and the server behave."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

import sbirtools
from sbirtools import DownloadError, download_csv, download_csv_if_missing
from sbirtools.partial import Partial
from tests.sbirtools.web import Web, serving


def _left(cache: Path) -> set[str]:
    return {path.name for path in cache.parent.iterdir()} - {"award_data.csv.lock"}


def _partial(cache: Path) -> Path:
    return cache.with_name("award_data.csv.part")


def test_the_file_is_fetched_once_and_then_found(web: Web, cache: Path) -> None:
    assert download_csv_if_missing() == cache == sbirtools.get_cache_path()
    assert download_csv_if_missing() == cache
    assert cache.read_bytes() == web.content
    assert len(web.asked) == 1
    assert _left(cache) == {"award_data.csv"}


def test_an_empty_file_counts_as_missing(web: Web, cache: Path) -> None:
    cache.parent.mkdir()
    cache.touch()
    assert download_csv_if_missing().read_bytes() == web.content


def test_asking_for_an_address_replaces_what_is_there(web: Web, cache: Path) -> None:
    cache.parent.mkdir()
    cache.write_text("old,data\n")
    assert download_csv(web.url).read_bytes() == web.content


def test_progress_ends_at_the_total(web: Web) -> None:
    told: list[tuple[int, int | None]] = []
    download_csv(web.url, progress=lambda done, total: told.append((done, total)))
    size = len(web.content)
    assert told[0] == (0, size) and told[-1] == (size, size)
    assert told == sorted(told, key=lambda step: step[0])


def test_dropped_connections_are_continued(web: Web, cache: Path, pauses: list[float]) -> None:
    web.drop_after = [70_000, 10, 0, 1_000]
    assert download_csv(web.url).read_bytes() == web.content
    ranges = [asked.get("Range") for asked in web.asked]
    assert ranges == [None, "bytes=70000-", "bytes=70010-", "bytes=70010-", "bytes=71010-"]
    assert [asked.get("If-Range") for asked in web.asked[1:]] == ['"v1"'] * 4
    assert pauses == [0.5, 0.5, 1.0, 0.5]


def test_a_header_cut_in_its_first_word_is_no_verdict(web: Web) -> None:
    web.drop_after = [4]
    assert download_csv(web.url).read_bytes() == web.content


def test_a_server_that_always_drops_is_given_up(web: Web, cache: Path, pauses: list[float]) -> None:
    web.drop_after = [70_000, *[0] * 20]
    with pytest.raises(DownloadError, match=r"5 times in a row: 70,000 of [\d,]+ bytes came") as caught:
        download_csv(web.url)
    assert "goes on where it stopped" in caught.value.suggestion
    assert not cache.exists()
    assert _partial(cache).stat().st_size == 70_000
    web.drop_after = []
    assert download_csv(web.url).read_bytes() == web.content
    assert web.asked[-1]["Range"] == "bytes=70000-"


@pytest.mark.parametrize("etag", ['"v1"', None, 'W/"v1"'], ids=["etag", "no validator", "weak etag"])
@pytest.mark.parametrize("ranges", [True, False], ids=["ranges", "no ranges"])
def test_a_drop_is_overcome_with_any_server(web: Web, etag: str | None, ranges: bool) -> None:
    web.etag, web.ranges, web.drop_after = etag, ranges, [70_000]
    assert download_csv(web.url).read_bytes() == web.content


def test_the_time_of_the_last_change_also_says_which_file_it_is(web: Web, cache: Path) -> None:
    web.etag, web.last_modified = None, "Sun, 01 Nov 2026 00:00:00 GMT"
    web.drop_after = [70_000, *[0] * 9]
    with pytest.raises(DownloadError):
        download_csv(web.url)
    web.drop_after = []
    assert download_csv(web.url).read_bytes() == web.content
    assert web.asked[-1]["If-Range"] == web.last_modified


@pytest.mark.parametrize("new_etag", ['"v2"', None], ids=["new etag", "etag gone"])
def test_a_file_that_changed_meanwhile_is_loaded_anew(web: Web, new_etag: str | None) -> None:
    web.drop_after = [70_000, *[0] * 9]
    with pytest.raises(DownloadError):
        download_csv(web.url)
    web.drop_after, web.etag = [], new_etag
    web.content = b"other,columns\n" + b"1,2\n" * 50_000
    assert download_csv(web.url).read_bytes() == web.content


def test_a_server_that_ignores_if_range_is_seen_through_by_the_length(web: Web) -> None:
    web.etag, web.drop_after = None, [70_000]
    grown = web.content + web.content.splitlines(keepends=True)[1]

    def grow() -> None:
        if len(web.asked) == 2:
            web.content = grown

    web.on_request = grow
    assert download_csv(web.url).read_bytes() == grown
    assert [asked.get("Range") for asked in web.asked] == [None, "bytes=70000-", None]


def test_a_part_without_a_validator_is_not_trusted_the_next_time(web: Web) -> None:
    web.etag, web.drop_after = None, [70_000, *[0] * 9]
    with pytest.raises(DownloadError):
        download_csv(web.url)
    web.drop_after = []
    download_csv(web.url)
    assert "Range" not in web.asked[-1]


def test_a_part_of_another_address_is_not_continued(web: Web, cache: Path) -> None:
    web.drop_after = [70_000, *[0] * 9]
    with pytest.raises(DownloadError):
        download_csv(web.url)
    web.drop_after = []
    assert download_csv(f"{web.url}?other").read_bytes() == web.content
    assert "Range" not in web.asked[-1]


def test_a_part_that_was_already_whole_is_put_in_place(web: Web, cache: Path, monkeypatch: Any) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Partial, "publish", _die)
        with pytest.raises(ZeroDivisionError):
            download_csv(web.url)
    assert _partial(cache).read_bytes() == web.content
    assert download_csv(web.url).read_bytes() == web.content
    assert web.asked[-1]["Range"] == f"bytes={len(web.content)}-"


def _die(*_: Any) -> None:
    raise ZeroDivisionError


def test_a_part_longer_than_the_file_is_loaded_anew(web: Web, cache: Path) -> None:
    web.drop_after = [70_000, *[0] * 9]
    with pytest.raises(DownloadError):
        download_csv(web.url)
    web.drop_after, web.content = [], web.content[:60_000]
    assert download_csv(web.url).read_bytes() == web.content


@pytest.mark.parametrize("note", ["", "{}", "[1]", '{"address": 1, "validator": 2, "total": 3}'])
def test_a_damaged_note_means_starting_anew(web: Web, cache: Path, note: str) -> None:
    cache.parent.mkdir()
    _partial(cache).write_text("nonsense")
    cache.with_name("award_data.csv.part.json").write_text(note)
    assert download_csv(web.url).read_bytes() == web.content


def test_no_length_told_is_taken_as_it_comes(web: Web) -> None:
    web.length = False
    assert download_csv(web.url).read_bytes() == web.content


@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_passing_trouble_passes(web: Web, status: int) -> None:
    web.statuses = [status, status]
    assert download_csv(web.url).read_bytes() == web.content


@pytest.mark.parametrize(
    ("status", "says"),
    [(404, "404 Not Found. Check the address"), (410, "gone"), (403, "browser"), (401, "login")],
)
def test_a_refusal_is_told_at_once(web: Web, cache: Path, status: int, says: str) -> None:
    web.statuses = [status] * 9
    with pytest.raises(DownloadError, match=says):
        download_csv(web.url)
    assert len(web.asked) == 1
    assert _left(cache) == set()


def test_a_redirect_is_followed(web: Web) -> None:
    with serving(Web(b"", statuses=[302], headers={"Location": web.url})) as door:
        assert download_csv(door.url).read_bytes() == web.content


@pytest.mark.parametrize("to", ["file:///etc/passwd", "ftp://127.0.0.1/x.csv"])
def test_a_redirect_leads_nowhere_but_to_http(to: str) -> None:
    with (
        serving(Web(b"", statuses=[302] * 9, headers={"Location": to})) as door,
        pytest.raises(DownloadError),
    ):
        download_csv(door.url)


@pytest.mark.parametrize(
    ("content", "content_type", "says"),
    [
        (b"<!DOCTYPE html><title>Awards</title>\n", "text/csv", "a web page"),
        (b"Company,Agency\nA,B\n", "text/html; charset=utf-8", "a web page"),
        (b'\n {"error": "moved"}\n', "text/plain", "JSON"),
        (b"PK\x03\x04rest", "application/octet-stream", "a ZIP archive"),
        (b"\x1f\x8bgzip", "application/octet-stream", "a gzip file"),
        (b"a,b\0c\n", "text/csv", "a binary file"),
        (b"Access denied\n", "text/plain", "first line names no columns"),
        (b"Access denied", "text/plain", "first line names no columns"),
        (b"", "text/csv", "empty"),
    ],
    ids=["html", "html by type", "json", "zip", "gzip", "binary", "text", "text without newline", "empty"],
)
def test_what_is_no_csv_is_not_kept(
    web: Web, cache: Path, content: bytes, content_type: str, says: str
) -> None:
    web.content, web.content_type = content, content_type
    with pytest.raises(DownloadError, match=f"is not a CSV file but .*{says}"):
        download_csv(web.url)
    assert _left(cache) == set()


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.org/a.csv",
        "award_data.csv",
        "https://",
        "http://[",
        "http://h:99999/",
        "http://h/a b.csv",
        "http://h/\n",
        "",
    ],
)
def test_only_http_is_an_address(url: str, cache: Path) -> None:
    with pytest.raises(DownloadError, match=r"is not an address to download from.*https://"):
        download_csv(url)
    assert not cache.parent.exists()


def test_no_password_is_sent() -> None:
    with pytest.raises(DownloadError, match="holds a user name"):
        download_csv("http://me:secret@127.0.0.1/a.csv")


def test_a_key_in_the_address_is_not_told(web: Web) -> None:
    web.statuses = [404]
    with pytest.raises(DownloadError) as caught:
        download_csv(f"{web.url}?signature=SECRET")
    assert "SECRET" not in str(caught.value)


def test_nobody_listens(pauses: list[float]) -> None:
    with serving(Web(b"")) as gone:
        url = gone.url
    with pytest.raises(DownloadError, match=r"5 times in a row: .*refused"):
        download_csv(url)
    assert pauses == [0.5, 1.0, 2.0, 4.0]


def test_a_compressed_answer_is_refused(web: Web) -> None:
    web.headers = {"Content-Encoding": "gzip"}
    with pytest.raises(DownloadError, match="compressed"):
        download_csv(web.url)


def test_too_little_space_is_seen_before_the_download(web: Web, cache: Path, monkeypatch: Any) -> None:
    usage = type("Usage", (), {"free": 1 << 20})
    monkeypatch.setattr("sbirtools.partial.shutil.disk_usage", lambda folder: usage)
    with pytest.raises(DownloadError, match=r"no space left .* still to come, 1 free"):
        download_csv(web.url)


def test_a_disk_that_fills_up_keeps_what_has_come(web: Web, cache: Path, monkeypatch: Any) -> None:
    class Full:
        def __init__(self, file: Any) -> None:
            self.file = file

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: Any) -> None:
            self.file.close()

        def flush(self) -> None:
            self.file.flush()

        def write(self, chunk: bytes) -> None:
            if self.file.tell() >= 1 << 16:
                raise OSError(errno.ENOSPC, "No space left on device")
            self.file.write(chunk)

    real = Path.open
    with monkeypatch.context() as patch:
        patch.setattr(
            Path,
            "open",
            lambda path, mode="r", **more: (Full if mode == "ab" else lambda file: file)(
                real(path, mode, **more)
            ),
        )
        with pytest.raises(DownloadError, match=r"no space left .* is kept"):
            download_csv(web.url)
    assert _partial(cache).stat().st_size == 1 << 16
    assert download_csv(web.url).read_bytes() == web.content


def test_a_folder_that_cannot_be_made_is_told(cache: Path, web: Web) -> None:
    cache.parent.write_text("in the way")
    with pytest.raises(DownloadError, match=r"cannot write in .*SBIRTOOLS_CACHE_DIR"):
        download_csv(web.url)


def test_two_who_want_it_at_once_load_it_once(web: Web, cache: Path) -> None:
    gate = Event()

    def slowly() -> None:
        gate.wait(10)

    web.on_request = slowly
    found: list[Path] = []
    threads = [Thread(target=lambda: found.append(download_csv_if_missing())) for _ in range(3)]
    for thread in threads:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join(20)
    assert found == [cache] * 3
    assert len(web.asked) == 1


def test_an_interrupt_keeps_the_partial_file(web: Web, cache: Path) -> None:
    web.stall = Event()
    command = [sys.executable, "-m", "sbirtools.command", web.url]
    # What pytest runs in may ignore the signal, and children inherit that.
    child = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        while not (_partial(cache).exists() and _partial(cache).stat().st_size):
            assert child.poll() is None
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=20)
    finally:
        web.stall.set()
        child.kill()
    assert child.returncode == 130
    assert said == "interrupted; the next start goes on from here\n"
    assert json.loads(cache.with_name("award_data.csv.part.json").read_text())["validator"] == '"v1"'
    web.stall = None
    assert download_csv(web.url).read_bytes() == web.content
    assert web.asked[-1]["Range"].startswith("bytes=")
