"""What columns are, found from type, unit, name and values; and which of them are personal data."""

from __future__ import annotations

import pytest

from sandtable.catalog.model import Column, ColumnType, Meaning, Table
from sandtable.catalog.profile import ColumnProfile, ValueCount
from sandtable.catalog.proposed.meanings import meaning_of


def column(name: str, kind: str = "text", unit: str = "") -> Column:
    sql = {
        "text": "VARCHAR",
        "integer": "BIGINT",
        "decimal": "DECIMAL(18,2)",
        "float": "DOUBLE",
        "boolean": "BOOLEAN",
    }
    return Column(name=name, type=ColumnType(kind), sql_type=sql.get(kind, kind.upper()), unit=unit)


def profile(*values: object, count: int = 3, complete: bool = True) -> ColumnProfile:
    counted = tuple(ValueCount(value=v, count=count) for v in values)  # pyright: ignore[reportArgumentType] - cells
    return ColumnProfile(name="x", nulls=0, distinct=len(values), values=counted, complete=complete)


@pytest.mark.parametrize(
    ("given", "values", "meaning", "personal"),
    [
        (column("amount", "decimal", "EUR"), None, Meaning.MONEY, False),
        (column("unit_price", "float"), None, Meaning.MONEY, False),
        (column("share", "float", "%"), None, Meaning.PERCENT, False),
        (column("wait_minutes", "integer"), None, Meaning.DURATION, False),
        (column("quantity", "integer"), None, Meaning.AMOUNT, False),
        (column("rating", "integer"), None, Meaning.SCORE, False),
        (column("year", "integer"), None, Meaning.IDENTIFIER, False),
        (column("order_id", "integer"), None, Meaning.IDENTIFIER, False),
        (column("ordered", "date"), None, Meaning.DATE, False),
        (column("birth_date", "date"), None, Meaning.DATE, True),
        (column("active", "boolean"), None, Meaning.YES_NO, False),
        (column("newsletter"), profile("ja", "Nein"), Meaning.YES_NO, False),
        (column("contact"), profile("a@b.de", "c.d@e.org"), Meaning.EMAIL, True),
        (column("phone"), profile("+49 30 1234567", "(030) 765 43 21"), Meaning.PHONE, True),
        (column("site"), profile("https://a.de/x", "www.b.com"), Meaning.ADDRESS, False),
        (column("account"), profile("DE89 3704 0044 0532 0130 00"), Meaning.IDENTIFIER, True),
        (column("city"), profile("Bonn", "Köln"), Meaning.PLACE, False),
        (column("customer_name"), profile("Ada", "Bo"), Meaning.PERSON, True),
        (column("Vorname"), profile("Ada", "Bo"), Meaning.PERSON, True),
        (column("product_name"), profile("Lamp", "Desk"), Meaning.CATEGORY, False),
        (column("sku"), profile("A-12", "B-77", count=1), Meaning.IDENTIFIER, False),
        (column("status"), profile("open", "closed"), Meaning.CATEGORY, False),
        (column("note"), profile("so", "long", count=1, complete=False), Meaning.CATEGORY, False),
        (column("street"), profile("High St 1", "Low St 2"), Meaning.CATEGORY, True),
        (column("email"), None, Meaning.TEXT, True),
    ],
)
def test_what_a_column_is(
    given: Column, values: ColumnProfile | None, meaning: Meaning, personal: bool
) -> None:
    found = meaning_of(given, values)
    assert (found.meaning, found.personal) == (meaning, personal)
    assert found.why


def test_a_name_is_a_persons_in_a_table_of_people() -> None:
    name = column("name")
    people = Table(name="customers", file="c.csv", sha256="0" * 64, columns=(name,))
    things = Table(name="products", file="p.csv", sha256="0" * 64, columns=(name,))
    values = profile("Ada", "Bo")
    assert meaning_of(name, values, people).personal
    assert not meaning_of(name, values, things).personal


def test_a_few_other_values_do_not_decide() -> None:
    mostly = [f"user{n}@example.org" for n in range(19)]
    assert meaning_of(column("contact"), profile(*mostly, "unknown")).meaning is Meaning.EMAIL
    assert meaning_of(column("contact"), profile(*mostly[:5], *"abcdef")).meaning is not Meaning.EMAIL
