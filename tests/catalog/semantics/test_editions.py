"""The documents on disk: every edition is kept, found again by its version, and never lost to another writer."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandtable.catalog.semantics.applying import with_version
from sandtable.catalog.semantics.editions import CatalogEditions
from sandtable.catalog.semantics.model import Semantics
from sandtable.errors import InvalidInput, NotFound
from sandtable.plan.validate import metric_problems
from tests.catalog.semantics.test_applying import SHOP, said


@pytest.fixture
def editions(tmp_path: Path) -> CatalogEditions:
    return CatalogEditions(tmp_path, metric_problems)


def test_nothing_is_written_for_a_dataset_about_which_nothing_was_said(
    editions: CatalogEditions, tmp_path: Path
) -> None:
    assert editions.described(SHOP) == with_version(SHOP)
    assert editions.editions("shop") == () and list(tmp_path.iterdir()) == []


def test_every_edition_is_found_again_by_its_version(editions: CatalogEditions, tmp_path: Path) -> None:
    first = editions.write(SHOP, said(title="One"), by="ada", note="A first name")
    second = editions.write(SHOP, said(title="Two"), before=first.dataset.catalog_version)
    later = CatalogEditions(tmp_path)
    assert later.described(SHOP).title == "Two"
    assert later.at(SHOP, first.dataset.catalog_version).title == "One"
    assert later.at(SHOP, with_version(SHOP).catalog_version).title == "Shop"
    assert [(e.by, e.note, e.semantics.title) for e in later.editions("shop")] == [
        ("ada", "A first name", "One"),
        ("", "", "Two"),
    ]
    assert second.dataset.catalog_version == later.described(SHOP).catalog_version
    with pytest.raises(NotFound, match="is not here"):
        later.at(SHOP, "sha256:" + "9" * 64)


def test_the_same_again_is_no_edition(editions: CatalogEditions) -> None:
    editions.write(SHOP, said(title="One"))
    editions.write(SHOP, said(title="One"))
    assert len(editions.editions("shop")) == 1


def test_a_change_of_what_another_has_changed_is_refused(editions: CatalogEditions) -> None:
    before = editions.described(SHOP).catalog_version
    editions.write(SHOP, said(title="Theirs"), before=before)
    with pytest.raises(InvalidInput, match="changed meanwhile"):
        editions.write(SHOP, said(title="Ours"), before=before)
    assert editions.described(SHOP).title == "Theirs"


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (said(tables={"oders": {}}), "no table `oders`"),
        (
            said(metrics={"x": {"table": "orders", "numerator": {"agg": "median of", "column": "Amount"}}}),
            "`x`",
        ),
        (said(metrics={"x": {"table": "orders", "numerator": {"agg": "sum", "column": "day"}}}), "`x`"),
        (said(metrics={"x": {"table": "orders", "numerator": {"nonsense": 1}}}), "`x`"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(
    editions: CatalogEditions, document: Semantics, problem: str
) -> None:
    with pytest.raises(InvalidInput, match="does not fit") as refused:
        editions.write(SHOP, document)
    assert problem in str(refused.value.details["problems"])
    assert editions.editions("shop") == ()


def test_a_damaged_file_is_an_error_and_hides_no_other_dataset(
    editions: CatalogEditions, tmp_path: Path
) -> None:
    editions.write(SHOP, said(title="One"))
    (tmp_path / "catalogs" / "shop.json").write_text("{")
    with pytest.raises(InvalidInput, match="cannot be read"):
        editions.described(SHOP)
    assert editions.listed(SHOP).title == "Shop"


def test_what_is_exported_holds_for_the_same_data_elsewhere(
    editions: CatalogEditions, tmp_path: Path
) -> None:
    editions.write(SHOP, said(tables={"orders": {"columns": {"Amount": {"unit": "USD"}}}}))
    elsewhere = CatalogEditions(tmp_path / "other")
    (tmp_path / "other").mkdir()
    there = elsewhere.write(SHOP, editions.whole(SHOP))
    assert there.dataset.catalog_version == editions.described(SHOP).catalog_version
