"""A real server and a real sandbox: a file is sent, read, asked about; and the server is killed while it reads."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.server.test_serve import served

CSV = "city,visitors\n" + "".join(f"{'Bern' if n % 2 else 'Basel'},{n}\n" for n in range(2000))


def _until(client: httpx.Client, path: str, ready: Any, seconds: float = 90.0) -> Any:
    end = time.monotonic() + seconds
    while True:
        shown = client.get(path).json()
        if ready(shown):
            return shown
        assert time.monotonic() < end, shown
        time.sleep(0.1)


@pytest.mark.needs("userns")
def test_a_file_is_read_asked_about_and_survives_a_killed_server(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with served(home, "--port", "0", "--json") as process:
        assert process.stdout
        with httpx.Client(base_url=json.loads(process.stdout.readline())["url"], timeout=60) as client:
            begun = client.post("/upload", files=[("file", ("trips.csv", CSV, "text/csv"))])
            assert begun.status_code == 202, begun.text
            process.kill()
            process.wait(20)
    with served(home, "--port", "0", "--json") as process:
        assert process.stdout
        with httpx.Client(base_url=json.loads(process.stdout.readline())["url"], timeout=60) as client:
            place = f"/imports/{begun.json()['id']}"
            shown = _until(client, place, lambda found: found["state"] != "reading")
            assert (shown["state"], shown["dataset_id"]) == ("ready", "trips"), shown
            body = {"dataset_id": "trips", "sql": "SELECT sum(visitors) AS n FROM trips"}
            run = client.post("/runs", params={"wait": 30}, json=body).json()
            assert (run["status"], run["rows"]) == ("succeeded", [[1999000]]), run
            meanings = client.get("/datasets/trips/meanings").json()
            assert [column["column"] for column in meanings["tables"][0]["columns"]] == ["city", "visitors"]
            first = _until(client, "/datasets", lambda found: found[0]["prompts"])[0]
            assert (first["id"], first["own"]) == ("trips", True)
            answered = client.post(
                "/chat", json={"dataset_id": "trips", "message": first["prompts"][0]}
            ).json()
            assert answered["ending"] == "answered", answered
        process.terminate()
        assert process.wait(30) == 0
