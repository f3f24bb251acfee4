"""`helm test`: a question asked through the installed server is answered rightly, by a Job, and can be verified."""

from __future__ import annotations

import json
import sys
import threading
import time
import urllib.error
import urllib.request
from typing import Any, NoReturn

from cluster_api import ClusterApi

GIVEN: dict[str, Any] = json.loads(sys.argv[1])
HOST, PORT = GIVEN["host"], GIVEN["port"]
SERVER = f"http://[{HOST}]:{PORT}" if ":" in HOST else f"http://{HOST}:{PORT}"
NAME = GIVEN["name"]
"""By which the server is asked: it does not answer to the address of its service."""
DATASET, TABLE, QUESTION = GIVEN["dataset"], GIVEN["table"], GIVEN["question"]
CLUSTER: dict[str, str] | None = GIVEN.get("cluster")
"""Where the Jobs are; None when runs are executed elsewhere."""
SECONDS = float(GIVEN["seconds"])


def main() -> None:
    wait_until_ready()
    expected = rows_of_table()
    watcher = JobWatcher(ClusterApi(**CLUSTER)) if CLUSTER else None
    run = ask("POST", f"/runs?wait={min(60, SECONDS / 2):g}", count_the_rows())
    expect(run["status"] == "succeeded", f"the run ended as {run['status']}: {run.get('error')}")
    expect(run["rows"] == [[expected]], f"{TABLE} has {expected} rows, but the answer was {run['rows']}")
    say(f"run {run['run_id']}: {TABLE} has {expected} rows, as it should")
    if watcher:
        say(f"executed by Job {watcher.job_of(run['run_id'])}")
    report = ask("POST", f"/runs/{run['run_id']}/verify")
    expect(report["ok"] is True, f"its capsule does not verify: {report}")
    say("its capsule verifies: signed by this server, and the same result when run again")
    if QUESTION:
        converse(expected)


def wait_until_ready() -> None:
    deadline = time.monotonic() + SECONDS / 2
    while True:
        try:
            return expect(ask("GET", "/readyz")["ready"], "the server is not ready")
        except OSError as error:
            if time.monotonic() > deadline:
                stop(f"{SERVER} does not become ready: {error}")
            time.sleep(1)


def rows_of_table() -> int:
    """What the catalog says: known before any query."""
    tables = {table["name"]: table["rows"] for table in ask("GET", f"/datasets/{DATASET}")["tables"]}
    expect(TABLE in tables, f"{DATASET} has no table {TABLE}: {', '.join(tables)}")
    return tables[TABLE]


def count_the_rows() -> dict[str, Any]:
    sql = f"select count(*) as n from {TABLE}"  # noqa: S608 - the chart's schema lets only a name through
    # An earlier answer would do without a Job.
    return {"dataset_id": DATASET, "sql": sql, "cache": False}


def converse(expected: int) -> None:
    answer = ask("POST", "/chat", {"dataset_id": DATASET, "message": QUESTION})
    rows = (answer.get("result") or {}).get("rows")
    expect(rows == [[expected]], f"{QUESTION!r} was answered by {rows}: {answer.get('message')}")
    say(f"{QUESTION} {answer['message']}")


class JobWatcher:
    """Looks on from before the question: a Job may be gone as soon as it has answered."""

    def __init__(self, api: ClusterApi) -> None:
        self._api = api
        self._seen: dict[str, str] = {}
        begin = self._api.call("GET", self._api.jobs(query="limit=1"))["metadata"]["resourceVersion"]
        query = f"watch=true&timeoutSeconds={SECONDS:.0f}&resourceVersion={begin}"
        threading.Thread(target=self._watch, args=(self._api.jobs(query=query),), daemon=True).start()

    def _watch(self, path: str) -> None:
        for event in self._api.lines(path):
            about = event["object"].get("metadata", {})
            if event["type"] == "ADDED":
                self._seen[about.get("labels", {}).get("sandtable.dev/run", "")] = about["name"]

    def job_of(self, run_id: str) -> str:
        deadline = time.monotonic() + 10
        while run_id not in self._seen:
            if time.monotonic() > deadline:
                stop(f"no Job was made for {run_id}; made were {self._seen or 'none'}")
            time.sleep(0.2)
        return self._seen[run_id]


def ask(method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    request = urllib.request.Request(  # noqa: S310 - the installed server
        SERVER + path,
        data=json.dumps(body).encode() if body is not None else None,
        method=method,
        headers={"Content-Type": "application/json", "Host": NAME},
    )
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310 - as above
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise OSError(f"{method} {path} was answered by {error.code}: {error.read(2000)!r}") from error


def expect(holds: bool, otherwise: str) -> None:
    if not holds:
        stop(otherwise)


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def stop(why: str) -> NoReturn:
    say(f"FAILED: {why}")
    sys.exit(1)


if __name__ == "__main__":
    main()
