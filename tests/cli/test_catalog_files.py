"""`sandtable data export` and `data import`: without a sandbox, for built-in datasets and for added ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.catalog.semantics.exchange.shop import HERE
from tests.cli.conftest import Invoke


def exported(invoke: Invoke, *options: str) -> str:
    done = invoke("data", "export", "ecommerce", *options)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_file_is_edited_and_imported(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "shop.yaml"
    assert exported(invoke, "--file", str(file)) == ""
    assert file.read_text() == exported(invoke)
    file.write_text(file.read_text().replace("title: E-commerce", "title: Web shop"))
    tried = invoke("data", "import", str(file), "--dry-run")
    assert tried.exit_code == 0 and "~ title: E-commerce → Web shop" in tried.stdout
    assert "title: E-commerce" in exported(invoke)
    done = invoke("data", "import", str(file), "--note", "A better name", "--json")
    found = json.loads(done.stdout)
    assert found["changes"] == [{"place": "title", "before": "E-commerce", "after": "Web shop"}]
    assert found["written"] and found["format"] == "sandtable"
    again = invoke("data", "import", str(file))
    assert (
        again.stdout.startswith("Nothing changes in ecommerce") and found["catalog_version"] in again.stdout
    )
    assert "title: Web shop" in exported(invoke)


@pytest.mark.parametrize("name", ["model.yaml", "model.json"])
def test_a_model_of_ossie_goes_out_and_in(invoke: Invoke, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    exported(invoke, "--format", "ossie", "--file", str(file))
    assert file.read_text().startswith("{" if name.endswith("json") else "version: '0.1.1'")
    done = invoke("data", "import", str(file))
    assert done.exit_code == 0 and "Nothing changes in ecommerce" in done.stdout


def test_a_manifest_of_dbt_lists_what_has_no_use(invoke: Invoke) -> None:
    file = str(HERE / "semantic_manifest.json")
    nameless = invoke("data", "import", file)
    assert nameless.exit_code == 2 and "Add --to DATASET." in nameless.output
    done = invoke("data", "import", file, "--to", "ecommerce")
    assert done.exit_code == 0, done.output
    assert '+ metrics.orders: {"table": "orders", "numerator": {"agg": "count"}' in done.stdout
    assert "  dbt metric running: cumulative metrics cannot be computed here\n" in done.stdout


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        ("titel: x\ndataset: ecommerce\n", (), "did you mean `title`?"),
        ("title: x\n", (), "names no dataset"),
        ("dataset: nothing\n", (), "there is no such dataset"),
        ("title: x\n", ("--to", "ecomerce"), "did you mean `ecommerce`?"),
        ("tables: {nothing: {}}\n", ("--to", "ecommerce", "--dry-run"), "there is no table `nothing`"),
        ("a: [", ("--to", "ecommerce"), "line 1: "),
    ],
)
def test_what_cannot_be_imported_is_named(
    invoke: Invoke, tmp_path: Path, text: str, options: tuple[str, ...], problem: str
) -> None:
    (tmp_path / "c.yaml").write_text(text)
    done = invoke("data", "import", str(tmp_path / "c.yaml"), *options)
    assert done.exit_code == 2 and problem in done.output


def test_a_file_that_cannot_be_written_is_named(invoke: Invoke, tmp_path: Path) -> None:
    done = invoke("data", "export", "ecommerce", "--file", str(tmp_path / "none" / "a.yaml"))
    assert done.exit_code == 2 and "cannot write" in done.output
