"""Answers taken away from a real home: the page verifies with the data, and the notebook runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.proof_page.samples import replaced, with_content

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-c", "from sandtable.cli import main; main(prog_name='sandtable')")
CELLS = """
import json, sys
names = {}
for cell in json.load(open(sys.argv[1]))["cells"]:
    if cell["cell_type"] == "code":
        exec(cell["source"], names)
print(names["answer_1"].table.rows, names["answer_2"].table.rows)
"""

pytestmark = pytest.mark.needs("userns")


def test_a_page_and_a_notebook_of_real_answers(tmp_path: Path) -> None:
    environment = {**os.environ, "SANDTABLE_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT / "src")}

    def called(*command: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, input=stdin, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    def run(kind: str, text: str) -> str:
        done = called(*PROGRAM, "run", "--dataset", "ecommerce", kind, "-", "--json", stdin=text)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["capsule"]["run_id"]

    plan = {"table": "order_items", "select": [{"agg": "count", "as": "n"}]}
    runs = (run("--plan", json.dumps(plan)), run("--sql", "SELECT count(*) AS n FROM order_items"))
    page, book = tmp_path / "answers.html", tmp_path / "answers.ipynb"
    assert called(*PROGRAM, "export", *runs, "--html", "--to", str(page)).returncode == 0
    verified = called(*PROGRAM, "verify", str(page), "--json")
    report = json.loads(verified.stdout)
    assert (verified.returncode, report["ok"], report["complete"]) == (0, True, True), report
    assert [one["status"] for one in report["links"]] == ["ok"] * 6

    changed = with_content(
        page.read_text("utf-8"), lambda held: replaced(held["capsules"][0], "18462", "18463")
    )
    page.write_text(changed, "utf-8")
    assert called(*PROGRAM, "verify", str(page)).returncode == 1

    assert called(*PROGRAM, "export", *runs, "--as", "notebook", "--to", str(book)).returncode == 0
    ran = called(sys.executable, "-c", CELLS, str(book))
    assert ran.stdout.splitlines()[-1:] == ["((18462,),) ((18462,),)"], ran.stderr
