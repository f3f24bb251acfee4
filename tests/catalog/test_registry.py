from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandtable.catalog import registry
from sandtable.catalog.registry import Catalog, load_catalog, registry_folder
from sandtable.engines.duckdb.types import column_type
from sandtable.errors import InvalidInput, NotFound
from sandtable.settings import Settings

BUILT_IN = registry_folder()
Change = Callable[[dict[str, Any]], object]


def changed(folder: Path, change: Change) -> Path:
    """A registry like the built-in one, but for `change` applied to its first dataset."""
    content = json.loads((BUILT_IN / "registry.json").read_text("utf-8"))
    change(content["datasets"][0])
    (folder / "registry.json").write_text(json.dumps(content), "utf-8")
    return folder


def test_three_datasets_are_built_in() -> None:
    catalog = load_catalog(BUILT_IN, column_type)
    assert list(catalog) == ["ecommerce", "support", "sensors"]
    assert len(catalog) == 3 and "support" in catalog and "orders" not in catalog
    assert catalog.folder == BUILT_IN
    assert [d.id for d in catalog.values()] == list(catalog)
    assert {"return_rate", "average_discount", "revenue"} <= {
        m.name for m in catalog.get("ecommerce").metrics
    }


def test_unknown_dataset_names_the_nearest() -> None:
    with pytest.raises(NotFound, match=r"no dataset `ecomerce`; did you mean `ecommerce`\?") as caught:
        load_catalog(BUILT_IN, column_type).get("ecomerce")
    assert "support" in caught.value.suggestion
    assert caught.value.details["nearest"] == "ecommerce"


def test_unknown_dataset_unlike_any_other_suggests_the_list_only() -> None:
    with pytest.raises(NotFound, match=r"^no dataset `weather`$"):
        load_catalog(BUILT_IN, column_type).get("weather")
    with pytest.raises(NotFound) as caught:
        Catalog([]).get("weather")
    assert caught.value.suggestion == "The datasets are: none."


def _column(dataset: dict[str, Any], **values: str) -> None:
    dataset["tables"][0]["columns"][0].update(values)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        pytest.param(
            lambda d: d.update(colour="red"), r"`ecommerce`: colour: Extra inputs", id="unknown field"
        ),
        pytest.param(lambda d: d.pop("tables"), "`ecommerce`: tables: Field required", id="no tables"),
        pytest.param(lambda d: d.pop("id"), r"datasets\[0\]: id: Field required", id="no id"),
        pytest.param(
            lambda d: d.update(id="support"), "two datasets have the id `support`", id="same id twice"
        ),
        pytest.param(
            lambda d: _column(d, type="text"),
            "orders.order_id: type is text, but INTEGER is integer",
            id="type",
        ),
        pytest.param(
            lambda d: _column(d, name="id"),
            "order_items.order_id|orders.order_id, which does not",
            id="relation",
        ),
        pytest.param(
            lambda d: _column(d, sql_type="BIGINT"), "but its tables give sha256:", id="schema changed"
        ),
        pytest.param(lambda d: d["tables"][0].update(sha256="0" * 64), "its tables give", id="bytes changed"),
        pytest.param(
            lambda d: d["tables"][0].update(file="../../etc/passwd"), "plain file name", id="path as file"
        ),
        pytest.param(
            lambda d: d["tables"][2].update(name="in/ventory"), "in/ventory|inventory", id="path as table"
        ),
        pytest.param(lambda d: d.update(as_of="yesterday"), "as_of `yesterday` is neither", id="as_of"),
        pytest.param(
            lambda d: d["metrics"][1]["numerator"].update(column="discont_rate"),
            "average_discount uses discont_rate, which does not exist; did you mean `discount_rate`",
            id="column of a metric",
        ),
        pytest.param(
            lambda d: d["metrics"][0]["numerator"]["where"][0].update(column="orders.state"),
            "return_rate uses orders.state, which does not exist",
            id="column of a metric's filter",
        ),
    ],
)
def test_inconsistent_registry_is_refused(tmp_path: Path, change: Change, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint) as caught:
        load_catalog(changed(tmp_path, change), column_type)
    assert str(tmp_path / "registry.json") in caught.value.message
    assert caught.value.suggestion


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        pytest.param(b"{", "not JSON", id="not JSON"),
        pytest.param(b"\xff\xfe", "not JSON in UTF-8", id="not UTF-8"),
        pytest.param(b"[]", "must hold an object", id="a list"),
        pytest.param(
            b'{"format": 2, "datasets": []}', "`format` is `2`; this version reads 1", id="newer format"
        ),
        pytest.param(b'{"format": 1, "datasets": {}}', "`datasets` must be a list", id="no list"),
        pytest.param(b'{"format": 1, "datasets": [7]}', r"datasets\[0\]: value: ", id="a number as dataset"),
    ],
)
def test_file_that_is_no_registry_is_refused(tmp_path: Path, content: bytes, complaint: str) -> None:
    (tmp_path / "registry.json").write_bytes(content)
    with pytest.raises(InvalidInput, match=complaint):
        load_catalog(tmp_path, column_type)


def test_missing_registry_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="No such file") as caught:
        load_catalog(tmp_path / "nowhere", column_type)
    assert "SANDTABLE_DATASETS" in caught.value.suggestion


def test_settings_name_another_folder(tmp_path: Path) -> None:
    assert registry_folder(Settings(datasets=tmp_path)) == tmp_path  # pyright: ignore[reportCallIssue]  (home has a default)


def test_installed_package_comes_before_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "lib/python/site-packages/sandtable/catalog/registry.py"
    monkeypatch.setattr(registry, "__file__", str(module))
    with pytest.raises(InvalidInput, match="the built-in datasets are missing"):
        registry_folder()
    installed = tmp_path / "lib/python/site-packages/sandtable/_datasets"
    installed.mkdir(parents=True)
    (installed / "registry.json").touch()
    assert registry_folder() == installed
