"""`sandtable serve` as it is started: it tests itself, listens, answers, and ends in order."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import IO, Any

import httpx
import pytest

from sandtable.catalog.model import Dataset
from sandtable.errors import InvalidInput, RunnerBroken, SandboxUnavailable
from sandtable.server import listen, standing
from sandtable.settings import Settings
from tests.agent.analysis.declared import declare_trips
from tests.capsule.samples import SHOP
from tests.server.house import open_house, report

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-c", "from sandtable.cli import main; main(prog_name='sandtable')")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served")


@contextmanager
def served(
    home: Path, *arguments: str, stderr: int | IO[str] = subprocess.PIPE, **settings: object
) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "SANDTABLE_HOME": str(home), "PYTHONPATH": str(ROOT / "src")}
    environment["SANDTABLE_WEB"] = str(home / "not-built")
    environment |= {f"SANDTABLE_{name}": str(value) for name, value in settings.items()}
    with subprocess.Popen(
        [*PROGRAM, "serve", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


@pytest.mark.needs("userns")
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT], ids=lambda s: s.name)
def test_serves_and_ends_in_order(home: Path, ending: signal.Signals) -> None:
    with served(home, "--port", "0", "--json") as process:
        assert process.stdout and process.stderr
        url = json.loads(process.stdout.readline())["url"]
        with httpx.Client(base_url=url, timeout=60) as client:
            assert client.get("/healthz").json() == {"status": "ok"}
            assert client.get("/readyz").json()["ready"]
            body = {"dataset_id": "sensors", "sql": "SELECT count(*) AS n FROM readings"}
            run = client.post("/runs", params={"wait": 30}, json=body).json()
            assert (run["status"], run["rows"]) == ("succeeded", [[34785]]), run
            assert client.post(f"/runs/{run['run_id']}/verify").json()["ok"]
            table = client.get("/datasets/sensors/schema").json()["tables"][0]
            assert len(table["sample"]["rows"]) == 5, table["sample"]
            assert "34,785 rows" in client.get("/").text
            profile = client.get("/datasets/sensors/profile").json()
            assert [table["rows"] for table in profile["tables"]] == [34785, 24]
        process.send_signal(ending)
        logs = [json.loads(line) for line in process.stderr.read().splitlines()]
        assert process.wait(20) == 0
    assert {"request", "run_finished", "server_stopping"} <= {line["event"] for line in logs}
    assert all("timestamp" in line and "level" in line for line in logs)
    assert not [line for line in logs if line["level"] in ("error", "critical")]


@pytest.mark.needs("userns")
def test_nothing_that_it_answers_names_its_folders(home: Path, tmp_path: Path) -> None:
    datasets = declare_trips(tmp_path / "declared")
    (datasets / "trips.csv").unlink()
    with served(home, "--port", "0", "--json", DATASETS=datasets) as process:
        assert process.stdout
        with httpx.Client(base_url=json.loads(process.stdout.readline())["url"], timeout=60) as client:
            body = {"dataset_id": "trips", "sql": "SELECT count(*) FROM trips"}
            run = client.post("/runs", params={"wait": 30}, json=body).text
            said = client.post(
                "/chat", json={"message": "how many trips are there?", "dataset_id": "trips"}
            ).text
    assert "SANDTABLE_DATASETS" in run
    for text in (run, said):
        assert str(tmp_path) not in text and str(home) not in text, text


def test_answers_are_not_held_back() -> None:
    with (
        standing.bound("127.0.0.1", 0) as listening,
        socket.create_connection(listening.getsockname()),
        listening.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_in_use_is_told(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with served(home, "--port", port) as process:
            assert process.stderr
            said = process.stderr.read()
            assert process.wait(30) == 2
    assert f"error[VALIDATION_ERROR]: cannot listen on 127.0.0.1:{port}" in said
    assert "--port" in said and "Traceback" not in said


async def test_nothing_listens_where_the_self_test_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = SandboxUnavailable("the self-test got out").problem
    settings = Settings(home=tmp_path, port=0)

    def assemble(chosen: Settings, *, serving: bool) -> object:
        assert serving, "a server takes up what a dead one left"
        return open_house(tmp_path, chosen)

    async def unfit(self: object) -> object:
        return report(problem)

    monkeypatch.setattr(listen, "assemble", assemble)
    monkeypatch.setattr("tests.server.house.House.doctor", unfit)
    announced: list[object] = []
    with pytest.raises(SandboxUnavailable, match="got out"):
        await listen.listen(settings, lambda *said: announced.append(said))
    assert announced == []


@pytest.mark.parametrize(
    ("host", "shown"),
    [("127.0.0.1", "localhost"), ("localhost", "localhost"), ("127.0.0.2", "127.0.0.2"), ("::1", "[::1]")],
)
def test_the_address_is_one_to_click_on(host: str, shown: str) -> None:
    with _bound(host) as listening:
        assert standing.addresses(listening) == (f"http://{shown}:{listening.getsockname()[1]}",)
        assert not standing.is_reachable_by_others(listening)


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_every_address_is_shown_as_one_that_works(host: str) -> None:
    """The second is the one that others can use, where this machine has a network."""
    with _bound(host) as listening:
        assert standing.is_reachable_by_others(listening)
        port = listening.getsockname()[1]
        first, *others = standing.addresses(listening)
        assert first == f"http://localhost:{port}"
        for url in others:
            address = url.removeprefix("http://").removesuffix(f":{port}").strip("[]")
            assert not ip_address(address).is_unspecified
            with socket.socket(listening.family) as own:
                own.bind((address, 0))


@contextmanager
def _bound(host: str) -> Iterator[socket.socket]:
    try:
        with standing.bound(host, 0) as listening:
            yield listening
    except InvalidInput as error:
        pytest.skip(f"ipv6 ({error.message})")


async def test_what_others_can_reach_needs_a_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused before anything else is done."""
    monkeypatch.setattr(listen, "assemble", lambda *_, **__: pytest.fail("it went on"))
    with pytest.raises(InvalidInput, match=r"other machines can reach 0\.0\.0\.0") as refused:
        await listen.listen(Settings(home=tmp_path, host="0.0.0.0", port=0, accounts="off"), lambda *_: None)
    for choice in ("SANDTABLE_ACCOUNTS", "SANDTABLE_TRUSTED_PROXIES", "--insecure", "127.0.0.1"):
        assert choice in refused.value.suggestion


def test_the_command_says_so_and_ends(home: Path) -> None:
    with served(home, "--host", "0.0.0.0", "--port", "0", ACCOUNTS="off") as process:
        assert process.stdout and process.stderr
        said = process.stderr.read()
        assert process.wait(30) == 2
        assert process.stdout.read() == ""
    assert "error[VALIDATION_ERROR]: other machines can reach 0.0.0.0" in said and "--insecure" in said


@pytest.mark.parametrize(
    ("chosen", "warned"),
    [({"insecure": True}, True), ({"trusted_proxies": "10.0.0.7"}, False)],
    ids=["everybody", "a proxy"],
)
async def test_a_choice_lets_it_listen_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: dict[str, Any], warned: bool
) -> None:
    settings = Settings(home=tmp_path, web=tmp_path / "not-built", host="0.0.0.0", port=0, **chosen)
    monkeypatch.setattr(listen, "assemble", lambda given, *, serving: open_house(tmp_path, given))
    monkeypatch.setattr(listen, "load_ahead", lambda: None)
    announced: asyncio.Future[tuple[tuple[str, ...], str]] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(listen.listen(settings, lambda *said: announced.set_result(said)))
    try:
        async with asyncio.timeout(30):
            urls, warning = await announced
        assert bool(warning) == warned
        async with httpx.AsyncClient(base_url=urls[0], timeout=20) as client:
            assert (await client.get("/healthz")).status_code == 200
    finally:
        if not task.done():
            os.kill(os.getpid(), signal.SIGTERM)
        await task


async def test_datasets_are_made_ready_and_looked_at_meanwhile() -> None:
    done: list[tuple[str, str]] = []
    everything = threading.Event()

    class Datasets:
        def datasets(self) -> tuple[Dataset, ...]:
            return tuple(SHOP.model_copy(update={"id": name}) for name in ("one", "broken", "two"))

        async def ready(self, dataset_id: str) -> Dataset:
            if dataset_id == "broken":
                raise RunnerBroken("its files are gone")
            return SHOP.model_copy(update={"id": dataset_id})

        async def profile(self, dataset: Dataset) -> None:
            done.append(("profile", dataset.id))

    class Parts:
        datasets = Datasets()

        async def warm(self, dataset: Dataset) -> None:
            done.append(("warm", dataset.id))

    async with listen._preparing(Parts(), everything.set):  # pyright: ignore[reportArgumentType] - a double of Parts
        assert await asyncio.to_thread(everything.wait, 30)
    assert done == [("warm", "one"), ("warm", "two"), ("profile", "one"), ("profile", "two")]
