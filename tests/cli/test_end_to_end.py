"""The program as a person starts it, with its real gate and sandbox."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.catalog.damage import flip
from tests.runner.intake.databases import sqlite

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-c", "from sandtable.cli import main; main(prog_name='sandtable')")

pytestmark = pytest.mark.needs("userns")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = tmp_path_factory.mktemp("end-to-end")
    return {**os.environ, "SANDTABLE_HOME": str(home), "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "100"}


@pytest.fixture
def sandtable(environment: dict[str, str], tmp_path: Path) -> Any:
    def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*PROGRAM, *arguments],
            input=stdin,
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


def test_a_question_its_capsule_and_its_proof(sandtable: Any, tmp_path: Path) -> None:
    plan = {"table": "order_items", "select": [{"agg": "count", "as": "n"}]}
    done = sandtable("run", "--dataset", "ecommerce", "--plan", "-", "--json", stdin=json.dumps(plan))
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["capsule"]["result"]["rows"] == [[18462]]
    assert made["capsule"]["isolation"]
    path = tmp_path / "capsule.json"
    path.write_text(done.stdout)
    verified = sandtable("verify", str(path), "--json")
    report = json.loads(verified.stdout)
    assert (verified.returncode, report["ok"], report["complete"]) == (0, True, True), report
    made["capsule"]["result"]["rows"] = [[1]]
    path.write_text(json.dumps(made))
    assert sandtable("verify", str(path)).returncode == 1


def test_a_result_that_is_not_from_the_data_says_so_and_verifies(sandtable: Any) -> None:
    done = sandtable("run", "--dataset", "ecommerce", "--sql", "SELECT 42 AS revenue")
    assert (done.returncode, done.stdout.split()) == (0, ["revenue", "42"]), done.stderr
    assert "note: Not from the data: the query reads no table." in done.stderr
    verified = sandtable("verify", done.stderr.split()[-1])
    assert verified.returncode == 0, verified.stdout


def test_a_database_is_added_and_asked_about(sandtable: Any, tmp_path: Path) -> None:
    rows: dict[str, list[Any]] = {
        "customers": [(1, "Ada"), (2, "Bo")],
        "orders": [(1, 1, "2024-01-31", 10), (2, 1, "2024-02-01", 2.5), (3, 2, "2024-02-02", 4)],
    }
    script = """
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, buyer INT REFERENCES customers, ordered DATE, amount REAL);
    """
    (tmp_path / "shop.sqlite").write_bytes(sqlite(script, rows))
    added = sandtable("data", "add", "shop.sqlite")
    assert added.returncode == 0, added.stderr
    assert "orders: 3 rows, 4 columns, from shop.sqlite" in added.stdout
    shown = sandtable("data", "show", "shop")
    assert "sqlite, table orders" in shown.stdout
    schema = json.loads(sandtable("schema", "shop", "--json").stdout)
    assert [[each["many_column"], each["one_column"]] for each in schema["relationships"]] == [
        ["buyer", "id"]
    ]
    assert [table["key"] for table in schema["tables"]] == [["id"], ["id"]]
    asked = sandtable("ask", "total amount per customer name", "--dataset", "shop", "--json")
    assert asked.returncode == 0, asked.stderr
    assert sorted(json.loads(asked.stdout)["rows"]) == [["Ada", 12.5], ["Bo", 4.0]]
    more = sqlite("CREATE TABLE returns (order_id INT)", {"returns": [(3,)]}, before=sqlite(script, rows))
    (tmp_path / "shop.sqlite").write_bytes(more)
    assert "table returns added" in sandtable("data", "refresh", "shop").stdout
    (tmp_path / "shop.sqlite-wal").write_bytes(b"7")
    refused = sandtable("run", "--data", "shop.sqlite", "--sql", "SELECT 1")
    assert refused.returncode == 2
    assert "changes of it are in shop.sqlite-wal" in refused.stderr


def test_python_as_a_new_user_would_run_it(sandtable: Any, tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("region,amount\nNorth,10\nSouth,32\nNorth,5\n")
    text = 'print(len(df))\ndf.groupby("region", as_index=False)["amount"].sum()\n'
    done = sandtable("run", "--data", "sales.csv", "--python", "-", stdin=text)
    assert (done.returncode, done.stdout) == (0, "3\nregion\tamount\nNorth\t15\nSouth\t32\n"), done.stderr
    lines = [
        {"id": "plot", "python": "px.bar(sales, x='region', y='amount')"},
        {"id": "endless", "python": "while True: pass"},
        {"id": "seeded", "python": "print(random.random(), np.random.rand())"},
        {"id": "sql", "sql": "SELECT count(*) FROM sales"},
    ]
    stdin = "".join(json.dumps(line) + "\n" for line in lines)
    many = ("run", "--data", "sales.csv", "--jsonl", "-", "--timeout", "2", "--no-cache")
    done = sandtable(*many, stdin=stdin)
    plot, endless, seeded, sql = map(json.loads, done.stdout.splitlines())
    assert plot["artifacts"][0]["figure"]["data"][0]["y"] == [10, 32, 5]
    assert endless["error"]["code"] == "RUNNER_TIMEOUT"
    assert sql["rows"] == [[3]]
    report = json.loads(sandtable("verify", seeded["run_id"], "--json").stdout)
    assert (report["ok"], report["complete"]) == (True, True), report
    done = sandtable("run", "--data", "sales.csv", "--no-check", "--python", "import os\nos.listdir('/etc')")
    assert done.returncode == 1
    assert "note: the code was not checked" in done.stderr and "error[VALIDATION_ERROR]" in done.stderr
    done = sandtable("check", "--data", "sales.csv", "--python", "import os")
    assert done.returncode == 3, done.stderr


def test_files_become_tables(sandtable: Any, tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("person,amount\n1,10\n2,32\n")
    (tmp_path / "people.csv").write_text("person,name\n1,Ada\n2,Bob\n")
    sql = "SELECT name, amount FROM sales JOIN people USING (person) ORDER BY amount DESC"
    done = sandtable("run", "--data", "sales.csv", "--data", "people.csv", "--sql", sql)
    assert (done.returncode, done.stdout) == (0, "name\tamount\nBob\t32\nAda\t10\n"), done.stderr
    plan = json.dumps(
        {"dataset_id": "any", "table": "sales", "select": [{"agg": "sum", "column": "amount", "as": "s"}]}
    )
    planned = sandtable("run", "--data", "sales.csv", "--plan", "-", stdin=plan)
    assert (planned.returncode, planned.stdout) == (0, "s\n42\n"), planned.stderr


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"", "empty", id="empty"),
        pytest.param(b"a,b\n1,\xff\xfe\xfa\n", "", id="encoding"),
        pytest.param(b"a,a\n1,2\n", "", id="duplicate header"),
        pytest.param(b"a,b\n1,2,3,4\n5\n", "", id="ragged"),
        pytest.param(b"a,b\n1,\x00\n", "", id="nul"),
    ],
)
def test_a_malformed_file_ends_well(sandtable: Any, tmp_path: Path, content: bytes, says: str) -> None:
    """Used, or refused with a reason; never a traceback."""
    (tmp_path / "bad.csv").write_bytes(content)
    done = sandtable("run", "--data", "bad.csv", "--sql", "SELECT count(*) FROM bad")
    assert "Traceback" not in done.stderr
    if done.returncode != 0:
        assert done.returncode == 2, done.stderr
        assert done.stderr.startswith("error[VALIDATION_ERROR]: ") and "  → " in done.stderr
        assert says in done.stderr


def test_refusals_and_failures_exit_as_promised(sandtable: Any) -> None:
    refused = sandtable("run", "--dataset", "support", "--sql", "SELECT * FROM read_csv('/etc/passwd')")
    assert refused.returncode == 3
    assert "^^^^" in refused.stderr and "error[SQL_POLICY_VIOLATION]" in refused.stderr
    failed = sandtable("run", "--dataset", "support", "--sql", "SELECT no_such_column FROM tickets")
    assert failed.returncode == 1
    assert "no_such_column" in failed.stderr
    slow = "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range * b.range % 7 = 3"
    late = sandtable("run", "--dataset", "support", "--sql", slow, "--timeout", "0.5")
    assert late.returncode == 1
    assert "error[RUNNER_TIMEOUT]" in late.stderr


def test_a_refusal_brings_a_correction(sandtable: Any) -> None:
    told = sandtable("check", "--dataset", "support", "--sql", "SELECT count(*) FROM tikets")
    assert told.returncode == 3
    assert "Use `tickets`:\n  SELECT count(*) FROM tickets" in told.stderr
    listed = sandtable("check", "--dataset", "support", "--sql", "SELECT count(*) FROM tikets", "--json")
    assert [fix["text"] for fix in json.loads(listed.stdout)["fixes"]] == ["SELECT count(*) FROM tickets"]


def test_a_plan_that_finds_nothing_is_explained(sandtable: Any, tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("city,amount\nMünchen,10\nBerlin,20\nBerlin,5\n")
    plan = {"table": "sales", "select": [{"agg": "count", "as": "n"}]}
    plan["filters"] = [{"column": "city", "op": "=", "value": "Munchen"}]
    told = sandtable("run", "--data", "sales.csv", "--plan", "-", stdin=json.dumps(plan))
    assert told.returncode == 0 and told.stdout.split() == ["n", "0"]
    assert "Of 3 sales, none is left where city is Munchen. No row has `Munchen` as city." in told.stderr
    assert "Use `München` for `Munchen`:" in told.stderr and '"value": "München"' in told.stderr


def test_sql_that_finds_nothing_is_explained(sandtable: Any, tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("city,amount\nMünchen,10\nBerlin,20\nBerlin,5\n")
    sql = "SELECT sum(amount) AS n FROM sales WHERE amount > 1 AND city = 'Munchen'"
    told = sandtable("run", "--data", "sales.csv", "--sql", sql)
    assert told.returncode == 0 and told.stdout.split()[0] == "n"
    assert "Of 3 rows of `sales`, 3 are left where `amount > 1`, and none of these where" in told.stderr
    assert f"Use `München` for `Munchen`:\n  {sql.replace('Munchen', 'München')}" in told.stderr


def test_many_through_one_process_in_order(sandtable: Any) -> None:
    asked = [{"id": n, "sql": f"SELECT {n} AS n, count(*) FROM tickets"} for n in range(40)]
    asked[7] = {"id": 7, "sql": "DROP TABLE tickets"}
    stdin = "\n".join(map(json.dumps, asked))
    done = sandtable("run", "--dataset", "support", "--jsonl", "-", stdin=stdin)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert [line["id"] for line in lines] == list(range(40))
    assert [line["status"] for line in lines if line["id"] != 7] == ["succeeded"] * 39
    assert all(line["rows"][0][0] == line["id"] for line in lines if line["id"] != 7)
    checked = sandtable("check", "--dataset", "support", "--jsonl", "-", stdin=stdin)
    verdicts = [json.loads(line)["verdict"] for line in checked.stdout.splitlines()]
    assert verdicts == ["refused" if n == 7 else "approved" for n in range(40)]


def test_interactive_lines_are_answered_one_by_one(environment: dict[str, str]) -> None:
    command = [*PROGRAM, "check", "--dataset", "support", "--jsonl", "-"]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as process:
        assert process.stdin and process.stdout
        for n in range(3):
            process.stdin.write(json.dumps({"id": n, "sql": "SELECT count(*) FROM tickets"}) + "\n")
            assert json.loads(process.stdout.readline()) == {**_approved(), "id": n}
        process.stdin.close()
        assert process.wait(30) == 0


def _approved() -> dict[str, Any]:
    return {
        "verdict": "approved",
        "code": None,
        "construct": None,
        "message": None,
        "sql": "SELECT count_star() FROM tickets",
        "tables": ["tickets"],
        "functions": ["count_star"],
        "warnings": [],
        "volatile": [],
    }


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["ctrl-c", "sigterm"]
)
def test_a_signal_ends_it_and_leaves_no_process(
    environment: dict[str, str], number: signal.Signals, code: int
) -> None:
    command = [*PROGRAM, "check", "--dataset", "support", "--jsonl", "-"]
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write('{"id": 1, "sql": "SELECT 1"}\n')
        process.stdin.flush()
        process.stdout.readline()
        started = time.monotonic()
        process.send_signal(number)
        # A process that was left behind would hold these pipes open.
        assert process.stderr.read().strip() == ""
        assert process.stdout.read() == ""
        assert process.wait(20) == code
        assert time.monotonic() - started < 15


def test_doctor_on_this_machine(sandtable: Any) -> None:
    done = sandtable("doctor", "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["ok"]) == (0, True), report
    assert report["attempts"] and not any(attempt["escaped"] for attempt in report["attempts"])


def test_a_question_in_plain_words(sandtable: Any, tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("region,units\nNorth,10\nSouth,7\nNorth,4\n")
    done = sandtable("ask", "total units by region", "--data", "sales.csv", "--json")
    made = json.loads(done.stdout)
    assert (done.returncode, made["status"], sorted(made["rows"])) == (
        0,
        "answered",
        [["North", 14], ["South", 7]],
    )
    assert sandtable("verify", made["run_id"]).returncode == 0
    unknown = sandtable("ask", "What is the airspeed velocity of a swallow?", "--data", "sales.csv")
    assert unknown.returncode == 4, unknown.stdout
    assert "sandtable verify" not in unknown.stdout
    chatted = sandtable("chat", "--data", "sales.csv", stdin="total units by region\n/sql\n")
    assert "SUM" in chatted.stdout and "North" in chatted.stdout, chatted.stderr


def test_a_terminal_without_blocks_gets_plain_characters(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("region,units\nNorth,10\nSüden,7\nNorth,4\n")
    done = subprocess.run(
        [*PROGRAM, "ask", "total units by region", "--data", "sales.csv"],
        env={**environment, "PYTHONIOENCODING": "latin-1"},
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode("latin-1")
    assert "Süden" in text and "####" in text and "-----" in text
    assert "â" not in text and "\x1b" not in text


def test_questions_with_their_answers(sandtable: Any, tmp_path: Path) -> None:
    """Two files of one name are two datasets."""
    lines: list[dict[str, Any]] = []
    for folder, units in (("a", 3), ("b", 5)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "sales.csv").write_text(f"region,units\nNorth,{units}\nSouth,{units}\n")
        question = {"question": "total units", "data": [f"{folder}/sales.csv"], "answer": 2 * units}
        lines.append({"id": folder, **question})
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = sandtable("eval", "questions.jsonl", "--json", "--min-accuracy", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    *judged, last = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["id"], line["rows"], line["correct"]) for line in judged] == [
        ("a", [[6]], True),
        ("b", [[10]], True),
    ]
    assert last["summary"]["accuracy"] == 1.0


def test_every_capsule_on_the_page_of_an_evaluation_verifies(sandtable: Any, tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("region,units\n<b>North</b>,3\nSouth,5\n")
    asked = ("total units", "units by region", "what is the weather?")
    lines = [{"id": n, "question": q, "data": ["sales.csv"], "answer": 8} for n, q in enumerate(asked)]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = sandtable("eval", "questions.jsonl", "--html", "page.html", "--only-totals")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "page.html").read_text("utf-8")
    saved = re.findall(r'download="(run_\w+\.json)" href="data:application/json;base64,([^"]+)"', text)
    assert len(saved) == 2
    rows: list[Any] = []
    for name, content in saved:
        capsule = tmp_path / name
        capsule.write_bytes(base64.b64decode(content))
        rows.append(json.loads(capsule.read_bytes())["capsule"]["result"]["rows"])
        report = json.loads(sandtable("verify", name, "--json").stdout)
        assert (report["ok"], report["complete"]) == (True, True), report
    assert rows[0] == [[8]]
    assert "&lt;b&gt;North&lt;/b&gt;" in text and "<b>North" not in text


def test_a_moment_with_a_zone_says_its_zone(sandtable: Any, tmp_path: Path) -> None:
    lines = ["device,happened_at", "a,2025-06-01T20:30:00Z", "b,2025-06-03T01:30:00+02:00"]
    (tmp_path / "events.csv").write_text("\n".join(lines) + "\n")
    done = sandtable("ask", "What is the latest happened at?", "--data", "events.csv", "--json")
    answer = json.loads(done.stdout)
    assert answer["rows"] == [["2025-06-02T23:30:00+00:00"]], done.stderr
    assert "2 June 2025, 23:30 UTC" in answer["answer_text"]


def test_data_that_changed_on_disk_are_refused_found_and_built_again(
    sandtable: Any, environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "tiny.csv").write_text("x\n1\n2\n")
    ask = ("run", "--data", "tiny.csv", "--sql", "SELECT sum(x) AS total FROM tiny")
    assert sandtable(*ask).stdout == "total\n3\n"
    [file] = Path(environment["SANDTABLE_HOME"]).glob("data/versions/*/tiny.parquet")
    flip(file, file.stat().st_size // 2)
    found = sandtable("data", "scrub")
    assert found.returncode == 1 and f"damaged\tsha256:{file.parent.name}\ttiny" in found.stdout, found
    rebuilt = sandtable("data", "scrub", "--repair", "--json")
    states = {each["version"]: each["state"] for each in json.loads(rebuilt.stdout)}
    assert (rebuilt.returncode, states[f"sha256:{file.parent.name}"]) == (0, "rebuilt"), rebuilt
    flip(file, file.stat().st_size // 2)
    # A command that is given the original builds the data again from it at once.
    assert sandtable(*ask, "--no-cache").stdout == "total\n3\n"
