"""`sandtable data add` and its companions, over a converter that asks; what needs no sandbox runs without one."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from sandtable.assemble import fetcher_of, store_of, uploads_of
from sandtable.assemble.version_retention import version_retention_of
from sandtable.capsule.keys import open_signing_key
from sandtable.catalog.ready_datasets import ReadyDatasets
from sandtable.catalog.registry import load_catalog, registry_folder
from sandtable.engines.duckdb.types import column_type
from sandtable.imports.by_address import Addresses
from sandtable.settings import Settings
from sandtable.state import state_of
from tests.catalog.fakes import FakeConvert
from tests.catalog.reading.test_file_tables import question
from tests.cli.conftest import Invoke

SALES = "day,amount\n03/04/2024,1\n04/04/2024,2\n"


@pytest.fixture
def convert(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeConvert:
    home = tmp_path / "home"
    settings = Settings(home=home)
    store = store_of(settings, open_signing_key(home))
    made = FakeConvert(store, types={"amount": "BIGINT"})
    catalog = load_catalog(registry_folder(settings), column_type)

    async def no_profile(_: object) -> Any:
        raise AssertionError("not needed")

    @asynccontextmanager
    async def assemble(chosen: Settings) -> AsyncIterator[SimpleNamespace]:
        datasets = ReadyDatasets(catalog, store, made, no_profile)
        runs = state_of(chosen).runs
        await runs.open()
        versions = version_retention_of(chosen, datasets.own, runs)
        uploads = uploads_of(chosen, store, datasets.own.records.bytes)
        addresses = Addresses(uploads, fetcher_of(chosen, uploads))
        yield SimpleNamespace(datasets=datasets, versions=versions, addresses=addresses)
        await runs.aclose()

    monkeypatch.setattr("sandtable.cli.session.assemble", assemble)
    return made


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    (path := tmp_path / "files" / "sales.csv").parent.mkdir()
    path.write_text(SALES, "utf-8")
    return path


def shown(invoke: Invoke, *arguments: str) -> Any:
    done = invoke(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_file_is_added_and_listed(invoke: Invoke, convert: FakeConvert, sales: Path) -> None:
    done = invoke("data", "add", str(sales), "--title", "Sales")
    assert (done.exit_code, done.stdout.splitlines()) == (
        0, ["Added sales", "  sales: 2 rows, 2 columns, from sales.csv"]
    )  # fmt: skip
    assert invoke("data", "list").stdout == "sales\tSales\tsales\t1\n"
    (listed,) = shown(invoke, "data", "list")
    assert (listed["id"], listed["title"], listed["versions"]) == ("sales", "Sales", 1)
    assert shown(invoke, "datasets")[0]["id"] == "sales"
    assert shown(invoke, "schema", "sales")["title"] == "Sales"


def test_a_changed_file_says_what_changed(invoke: Invoke, convert: FakeConvert, sales: Path) -> None:
    invoke("data", "add", str(sales))
    assert invoke("data", "add", str(sales)).stdout.startswith("Nothing changed in sales")
    sales.write_text(SALES + "05/04/2024,3\n", "utf-8")
    done = invoke("data", "refresh", "sales")
    assert done.stdout.startswith("New version of sales") and "2 rows before, 3 now" in done.stdout
    (now, before) = shown(invoke, "data", "show", "sales")["versions"]
    assert now["changes"]["rows"] == {"sales": [2, 3]} and before["changes"]["rows"] == {}


def test_a_folder_stands_for_its_files(invoke: Invoke, convert: FakeConvert, sales: Path) -> None:
    (sales.parent / "costs.csv").write_text("x\n1\n", "utf-8")
    (sales.parent / "notes.md").write_text("x", "utf-8")
    (sales.parent / ".hidden").write_text("x", "utf-8")
    (inner := sales.parent / "old").mkdir()
    (inner / "2023.csv").write_text("x\n1\n", "utf-8")
    added = shown(invoke, "data", "add", str(sales.parent), "--id", "mine")
    assert [t["name"] for t in added["tables"]] == ["costs", "sales"] and added["id"] == "mine"
    assert added["notes"] == [
        f"Not taken from {sales.parent}: notes.md (not a data file), old/ (a folder inside is not read: name it to add"
        " its files)."
    ]


def test_a_folder_of_folders_says_which_to_name(invoke: Invoke, convert: FakeConvert, sales: Path) -> None:
    done = invoke("data", "add", str(sales.parent.parent))
    assert done.exit_code == 2 and "Folders inside are not read: name files/, home/ to use it." in done.stderr


# Addresses


class Site(BaseHTTPRequestHandler):
    """Sends `files`, with an ETag, to which it answers 304."""

    files: ClassVar[dict[str, bytes]] = {}
    answered: ClassVar[list[int]] = []

    def do_GET(self) -> None:
        body = self.files.get(self.path, b"")
        tag = f'"{hashlib.sha256(body).hexdigest()}"'
        status = 404 if not body else 304 if self.headers["If-None-Match"] == tag else 200
        self.answered.append(status)
        self.send_response(status)
        self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(body) if status == 200 else 0))
        self.end_headers()
        self.wfile.write(body if status == 200 else b"")

    def log_message(self, format: str, *args: Any) -> None:
        """Not printed."""


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(Site, "files", {"/sales.csv?key=1": SALES.encode()})
    monkeypatch.setattr(Site, "answered", [])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_file_at_an_address_is_added_and_fetched_again(
    invoke: Invoke, convert: FakeConvert, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDTABLE_FETCH_PRIVATE", "true")
    added = shown(invoke, "data", "add", f"{site}/sales.csv?key=1")
    assert (added["id"], added["tables"][0]["file"]) == ("sales", "sales.csv")
    assert invoke("data", "refresh", "sales").stdout.startswith("Nothing changed in sales")
    assert Site.answered == [200, 304]
    Site.files["/sales.csv?key=1"] = f"{SALES}05/04/2024,3\n".encode()
    done = invoke("data", "refresh", "sales")
    assert done.stdout.startswith("New version of sales") and "2 rows before, 3 now" in done.stdout
    assert list((convert.store.root / "uploads").iterdir()) == []
    del Site.files["/sales.csv?key=1"]
    done = invoke("data", "refresh", "sales")
    assert done.exit_code == 2 and "answers with status 404" in done.stderr
    assert len(shown(invoke, "data", "show", "sales")["versions"]) == 2


def test_files_and_addresses_are_one_dataset_named_after_the_first(
    invoke: Invoke, convert: FakeConvert, site: str, sales: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDTABLE_FETCH_PRIVATE", "true")
    (costs := sales.with_name("costs.csv")).write_text("x\n1\n", "utf-8")
    added = shown(invoke, "data", "add", f"{site}/sales.csv?key=1", str(costs))
    assert added["id"] == "sales" and [t["name"] for t in added["tables"]] == ["sales", "costs"]
    costs.write_text("x\n1\n2\n", "utf-8")
    assert "costs: 1 rows before, 2 now" in invoke("data", "refresh", "sales").stdout
    done = invoke("data", "add", f"{site}/sales.csv?key=1", str(sales))
    assert done.exit_code == 2 and "would both become the table `sales`" in done.stderr


def test_a_question_about_a_fetched_file_is_asked_once_it_is_there(
    invoke: Invoke, convert: FakeConvert, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDTABLE_FETCH_PRIVATE", "true")
    monkeypatch.setattr("sandtable.cli.file_questions.can_ask", lambda: True)
    convert.questions = (question("sales.day"),)
    assert invoke("data", "add", f"{site}/sales.csv?key=1", stdin="1\n").exit_code == 0
    assert Site.answered == [200]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://127.0.0.1:1/sales.csv", "is not a public address"),
        ("ftp://example.org/sales.csv", "is not an address that files can be fetched from"),
        ("https://", "is not an address that files can be fetched from"),
        ("http://ann:secret@example.org/sales.csv", "without a user name"),
    ],
)
def test_an_address_that_cannot_be_used(
    invoke: Invoke, convert: FakeConvert, address: str, said: str
) -> None:
    done = invoke("data", "add", address)
    assert done.exit_code == 2 and said in done.stderr
    assert shown(invoke, "data", "list") == []


def test_an_address_is_no_file_of_one_command(invoke: Invoke, convert: FakeConvert) -> None:
    done = invoke("schema", "--data", "https://example.org/sales.csv")
    assert done.exit_code == 2 and "Add it with `sandtable data add ADDRESS`" in done.stderr


@pytest.mark.parametrize(
    "arguments", [("data", "add"), ("schema", "--data"), ("data", "add", "--json")], ids=" ".join
)
def test_an_open_question_names_the_option_to_give(
    invoke: Invoke, convert: FakeConvert, sales: Path, arguments: tuple[str, ...]
) -> None:
    convert.questions = (question("sales.day"),)
    done = invoke(*arguments, str(sales))
    assert done.exit_code == 2
    if "--json" in arguments:
        assert json.loads(done.stdout)["error"]["details"]["questions"][0]["id"] == "sales.day"
    else:
        assert "  --answer sales.day=date   3 April" in done.stderr
    assert invoke(*arguments, str(sales), "--answer", "day=date").exit_code == 0


def test_a_question_is_asked_on_a_terminal(
    invoke: Invoke, convert: FakeConvert, sales: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandtable.cli.file_questions.can_ask", lambda: True)
    convert.questions = (question("sales.day"),)
    done = invoke("data", "add", str(sales), stdin="7\n1\n")
    assert done.exit_code == 0 and "Is 03/04/2024 in sales.day" in done.stderr and "2  Text" in done.stderr
    assert shown(invoke, "data", "show", "sales")["answers"] == {"sales.day": "date"}


def test_a_repair_is_offered_and_taken(invoke: Invoke, convert: FakeConvert, sales: Path) -> None:
    invoke("data", "add", str(sales))
    sales.write_text(SALES + "05/04/2024,?\n", "utf-8")
    done = invoke("data", "refresh", "sales")
    assert done.exit_code == 2 and "--repair misfits-empty:amount   Leave it empty" in done.stderr
    done = invoke("data", "refresh", "sales", "--repair", "misfits-empty:amount")
    assert done.exit_code == 0 and "1 cell of sales.amount does not fit" in done.stdout


def test_a_correction_needs_no_file(
    invoke: Invoke, convert: FakeConvert, sales: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    invoke("data", "add", str(sales))
    sales.unlink()
    done = invoke("data", "correct", "sales", "--answer", "amount=text")
    assert "column sales.amount was BIGINT and is VARCHAR" in done.stdout
    text = invoke("data", "show", "sales").stdout
    assert "VARCHAR" in text and "all rows" in text and "was BIGINT" in text


def test_earlier_versions_and_datasets_go(invoke: Invoke, convert: FakeConvert, sales: Path) -> None:
    first = shown(invoke, "data", "add", str(sales))["version"]
    sales.write_text(SALES + "05/04/2024,3\n", "utf-8")
    invoke("data", "add", str(sales))
    would = shown(invoke, "data", "prune", "--keep-versions", "1", "--dry-run")
    assert [each["version"] for each in would["goes"]] == [first] and not would["removed"]
    assert invoke("data", "prune", "--keep-versions", "1").exit_code == 2, "there is no terminal to ask on"
    assert first in invoke("data", "prune", "--keep-versions", "1", "--yes").stdout
    assert invoke("data", "prune", "--keep-versions", "1").stdout == "Nothing goes.\n"
    assert invoke("data", "prune").exit_code == 2
    assert invoke("data", "remove", "sales").exit_code == 2
    assert shown(invoke, "data", "remove", "sales", "--yes")["removed"] == "sales"
    assert shown(invoke, "data", "list") == []
    assert invoke("data", "show", "sales").exit_code == 2


def test_the_settings_are_the_rules_of_a_change_and_of_prune(
    invoke: Invoke, convert: FakeConvert, sales: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = shown(invoke, "data", "add", str(sales))["version"]
    monkeypatch.setenv("SANDTABLE_KEEP_VERSIONS_MB", "1")
    assert invoke("data", "prune").stdout == "Nothing goes.\n"
    monkeypatch.setenv("SANDTABLE_KEEP_VERSIONS", "1")
    sales.write_text(SALES + "05/04/2024,3\n", "utf-8")
    done = invoke("data", "add", str(sales), "--json")
    added = json.loads(done.stdout)
    assert done.stderr == "Removed 1 version that the rules for versions do not keep.\n"
    assert first not in [each["version"] for each in shown(invoke, "data", "show", "sales")["versions"]]
    assert not (convert.store.path(first)).exists() and convert.store.path(added["version"]).exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("data", "add"),
        ("data", "add", "x.csv", "--id", "a", "--to", "b"),
        ("data", "add", "x.csv", "--answer", "day"),
        ("data", "correct", "sales"),
        ("schema", "ecommerce", "--answer", "day=text"),
    ],
    ids=" ".join,
)
def test_misuse_is_told(invoke: Invoke, convert: FakeConvert, arguments: tuple[str, ...]) -> None:
    assert invoke(*arguments).exit_code == 2
