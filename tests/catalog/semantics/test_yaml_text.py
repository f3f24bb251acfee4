"""A catalog as a YAML file: what is written is read again, and what cannot be read is named by line and field."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from yaml.parser import Parser

from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.catalog.semantics import yaml_tree
from sandtable.catalog.semantics.applying import described, semantics_of
from sandtable.catalog.semantics.model import Semantics
from sandtable.catalog.semantics.yaml_text import read_yaml, write_yaml
from sandtable.errors import InvalidInput
from tests.catalog.semantics.test_applying import SHOP, said

ODD = (
    "yes", "no", "on", "y", "null", "~", "1e3", "1_000", "0x1f", "12:30", "2024-01-01", "a: b", "- a", "#", "a #b",
    "'", '"', "{", "*a", "&a", "!a", " ", "größe", "日本", "columns", "numerator", "content", "tables", "=", "<<",
    "-", "a\nb", " a\nb \n\n", "a\x85b", "a\u2028b", "\ufeffa", "a\tb", "%", "?", "[]", ".5", "+1", "0o17",
    "\U0001f600",
)  # fmt: skip
names = st.one_of(
    st.sampled_from(ODD), st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
)
texts = st.one_of(st.just(""), names, st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
scalars = st.one_of(
    names, st.integers(-(10**15), 10**15), st.booleans(), st.floats(-1e9, 1e9).map(lambda n: n + 0.5)
)
synonyms = st.lists(names, max_size=3)
columns = st.fixed_dictionaries(
    {},
    optional={
        "description": texts,
        "synonyms": synonyms,
        "unit": texts.map(lambda text: text[:40]),
        "aggregate": st.sampled_from(["sum", "none"]),
        "masked": st.booleans(),
    },
)
documents = st.fixed_dictionaries(
    {
        "title": texts,
        "tables": st.dictionaries(
            names,
            st.fixed_dictionaries(
                {"columns": st.dictionaries(names, columns, max_size=4), "description": texts},
                optional={"key": synonyms, "time_column": names},
            ),
            max_size=3,
        ),
        "metrics": st.dictionaries(
            names,
            st.fixed_dictionaries({"table": names, "numerator": st.dictionaries(names, scalars, max_size=3)}),
            max_size=2,
        ),
        "joins": st.lists(st.fixed_dictionaries({"many": names, "one": names}), max_size=2),
        "questions": synonyms,
        "unused": st.lists(
            st.fixed_dictionaries(
                {
                    "kind": names,
                    "name": names,
                    "reason": texts,
                    "content": st.dictionaries(names, scalars, max_size=2),
                }
            ),
            max_size=2,
        ),
    }
)


@given(document=documents)
def test_what_is_written_is_read_again(document: dict[str, Any]) -> None:
    written = Semantics.model_validate(document)
    text = write_yaml(written, Semantics())
    read = read_yaml(text)
    assert read.version == written.version
    assert (read.questions or ()) == written.questions and read.unused == written.unused
    assert {table: list(found.columns) for table, found in read.tables.items()} == {
        table: list(found.columns) for table, found in written.tables.items()
    }
    # Another reader of YAML sees the same names.
    assert list(yaml.safe_load(text).get("tables") or ()) == list(written.tables)


@pytest.mark.parametrize("name", ODD)
def test_a_dataset_with_odd_names_keeps_its_version(name: str) -> None:
    column = Column(name=name, type=ColumnType.TEXT, sql_type="VARCHAR", description=name, synonyms=(name,))
    table = Table(name=name, file="a.csv", sha256="a" * 64, columns=(column,), key=(name,))
    dataset = Dataset(id="odd", title=name, tables=(table,), version="sha256:" + "0" * 64)
    whole = semantics_of(dataset)
    found = described(dataset, read_yaml(write_yaml(whole, whole)))
    assert found.misfits == () and found.dataset.catalog_version == whole.version


def test_the_file_is_for_people() -> None:
    whole = said(
        dataset="shop",
        title="Shop",
        description="Two lines:\nthe second.\n",
        tables={"orders": {"columns": {"Amount": {"unit": "EUR"}, "day": {}}}},
        metrics={
            "large": {
                "table": "orders",
                "numerator": {"agg": "count", "where": [{"column": "size", "value": 0}]},
            }
        },
    )
    text = write_yaml(whole, semantics_of(SHOP))
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert text.startswith("# What the dataset shop means")
    assert lines == [
        "format: 1",
        "dataset: shop",
        "title: Shop",
        "description: |",
        "  Two lines:",
        "  the second.",
        "",
        "tables:",
        "  orders:",
        "    columns:",
        "      Amount:",
        "        unit: EUR",
        "      day: {}",
        "",
        "metrics:",
        "  large:",
        "    table: orders",
        "    numerator:",
        "      agg: count",
        "      where:",
        "        - column: size",
        "          value: 0",
        "    format: number",
    ]


def test_what_a_person_emptied_stays_empty() -> None:
    changed = said(title="", joins=[], metrics={}, tables={"orders": {"columns": {"Amount": {"unit": ""}}}})
    before = described(SHOP, changed).dataset
    text = write_yaml(semantics_of(before), semantics_of(SHOP))
    assert "joins: []" in text and "metrics: {}" in text and "unit: ''" in text
    assert described(SHOP, read_yaml(text)).dataset == before


def test_words_of_people_are_taken() -> None:
    read = read_yaml(
        "tables:\n  orders:\n    columns:\n      mail: {masked: yes}\n      no:\n      2024: {unit: 1}\n"
    )
    columns = read.tables["orders"].columns
    assert columns["mail"].masked is True and columns["2024"].unit == "1" and "no" in columns


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("tables:\n  o:\n    descripton: x\n", "line 3: `tables.o.descripton` is not known; did you mean"),
        ("titel: x", "line 1: `titel` is not known; did you mean `title`"),
        ("joins:\n  - many: a.b\n    one: b.c\n    kind: left\n", "line 4: `joins.0.kind` is not known; known"),
        ("metrics:\n  m:\n    table: a\n", "line 2: `metrics.m.numerator`: Field required"),
        ("tables:\n  o:\n    columns:\n      a:\n        aggregate: total\n", "line 5: .*aggregate`: Input should be"),
        ("title: a\ntitle: b", "line 2: `title` is there twice"),
        ("title: &a x\ndescription: *a", "line 1: anchors"),
        ("title: !!python/object/apply:os.system [ls]", "line 1: tags"),
        ("title: !x y", "line 1: tags"),
        ("a: [", "line 1: "),
        ("a: \x01", "cannot be read"),
        ("? {a: b}\n: c", "line 1: a key is a name"),
        ("", "it is empty"),
        ("# a", "it is empty"),
        ("- a", "a catalog has fields"),
        ("a: 1\n---\nb: 1", "more than one document"),
        ("format: 2", "format"),
        ("a: " + "[" * 60, "more than 40 levels deep"),
        ("a: " + "{a: " * 60, "more than 40 levels deep"),
        ("# " + "x" * yaml_tree.LONGEST, "more than 1 MiB"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named(text: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        read_yaml(text)


def test_the_parser_is_pure_python(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []
    get_event = Parser.get_event
    monkeypatch.setattr(Parser, "get_event", lambda self: read.append(get_event(self)) or read[-1])
    assert read_yaml("title: a").title == "a" and len(read) == 8
