"""Answers as files, and pages verified, on the command line."""

from __future__ import annotations

import base64
import json
import zipfile
from pathlib import Path

import pytest

from sandtable.capsule.keys import public_pem
from tests.capsule.samples import KEY, charted
from tests.cli.conftest import Invoke
from tests.proof_page.samples import answer_with, content_of, page, replaced, with_content

SHOP_ARGS = ("--dataset", "shop")


@pytest.fixture
def run_id(invoke: Invoke) -> str:
    done = invoke("run", *SHOP_ARGS, "--sql", "SELECT 1", "--question", "How many?", "--json")
    return json.loads(done.stdout)["capsule"]["run_id"]


def test_a_page_is_written_and_verifies(invoke: Invoke, run_id: str, tmp_path: Path) -> None:
    path = tmp_path / "answer.html"
    done = invoke("export", run_id, "--html", "--to", str(path))
    assert (done.exit_code, done.stdout) == (0, f"{path}\n")
    report = json.loads(invoke("verify", str(path), "--json").stdout)
    states = {link["name"]: link["status"] for link in report["links"]}
    assert report["ok"] and states.items() >= {"statement": "ok", "program": "ok", "records": "ok"}.items()
    assert [one["run_id"] for one in report["capsules"]] == [run_id]
    shown = invoke("verify", str(path))
    assert shown.exit_code == 0 and "✓ program" in shown.stdout and f"capsule of {run_id}" in shown.stdout


def test_each_change_breaks_the_link_that_holds_it(invoke: Invoke, run_id: str, tmp_path: Path) -> None:
    path = tmp_path / "answer.html"
    invoke("export", run_id, "--to", str(path))
    text = path.read_text("utf-8")

    def broken(changed: str) -> list[str]:
        assert changed != text
        path.write_text(changed, "utf-8")
        report = json.loads(invoke("verify", str(path), "--json").stdout)
        assert not report["ok"]
        links = [*report["links"], *(link for one in report["capsules"] for link in one["links"])]
        return [link["name"] for link in links if link["status"] == "broken"]

    said = with_content(text, lambda c: replaced(c["statement"], "How many?", "How much?"))
    assert broken(said) == ["statement"]
    asked = with_content(text, lambda c: replaced(c["capsules"][0], "How many?", "How much?"))
    assert broken(asked) == ["records", "signature"]
    assert broken(with_content(text, lambda c: c.update(capsules=c["capsules"] * 2))) == ["records"]
    assert broken(text.replace('"use strict";', '"use strict"; alert(1);')) == ["program"]
    assert broken(text.replace('"format":"sandtable.page/1"', '"format":"sandtable.page/9"', 1)) == ["page"]
    shown = invoke("verify", str(path))
    assert shown.exit_code == 1 and "broken: page" in shown.stdout


def test_a_page_of_somebody_else_needs_their_key(invoke: Invoke, tmp_path: Path) -> None:
    path, pem = tmp_path / "page.html", tmp_path / "key.pem"
    elsewhere = charted(dataset_id="elsewhere", dataset_version="sha256:" + "12" * 32)
    path.write_text(page(answer_with(elsewhere)), "utf-8")
    pem.write_bytes(public_pem(KEY.private.public_key()))
    untrusted = invoke("verify", str(path))
    assert untrusted.exit_code == 1 and "no trusted key signed the page" in untrusted.stdout
    report = json.loads(invoke("verify", str(path), "--key", str(pem), "--json").stdout)
    states = [(link["name"], link["status"]) for link in report["links"]]
    assert states[:4] == [(name, "ok") for name in ("page", "statement", "program", "records")]
    assert (report["ok"], report["complete"]) == (True, False)
    # The data version is not here, so the sentence cannot be worded again.
    assert states[4] == ("sentence", "not_checked")


@pytest.mark.parametrize("form", ["markdown", "notebook", "csv"])
def test_the_other_forms_are_written(invoke: Invoke, run_id: str, tmp_path: Path, form: str) -> None:
    path = tmp_path / "answer"
    done = json.loads(invoke("export", run_id, "--as", form, "--to", str(path), "--json").stdout)
    assert done == {"file": str(path), "bytes": path.stat().st_size, "runs": [run_id]}
    if form == "csv":
        assert zipfile.ZipFile(path).namelist() == ["01-how-many.csv"]
    else:
        assert "How many?" in path.read_text("utf-8") and run_id in path.read_text("utf-8")


def test_what_cannot_be_written_says_so(invoke: Invoke, run_id: str, tmp_path: Path) -> None:
    unknown = invoke("export", "run_nothing")
    assert unknown.exit_code == 2 and "no run `run_nothing`" in unknown.stderr
    both = invoke("export", run_id, "--html", "--as", "csv")
    assert both.exit_code == 2 and "give one of them" in both.stderr
    nowhere = invoke("export", run_id, "--to", str(tmp_path / "no" / "file"))
    assert nowhere.exit_code == 2 and "Give another --to." in nowhere.stderr


def test_the_capsule_in_a_page_is_the_stored_one(invoke: Invoke, run_id: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    invoke("export", run_id, "--to", str(path))
    capsule = content_of(path.read_text("utf-8"))["capsules"][0]
    payload = json.loads(base64.b64decode(capsule["payload"]))
    assert payload["predicate"]["run_id"] == run_id
