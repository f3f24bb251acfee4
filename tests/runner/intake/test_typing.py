"""Every column gets the reading that explains all of its cells; misfits are listed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

from sandtable.catalog.recipe import Recipe
from sandtable_runner.intake.bad_file import BadFile
from tests.runner.intake.cells import Bench


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench()


_D = dt.date
_T = dt.datetime

# title → cells, SQL type, format, unit, values
_READ: dict[str, tuple[Sequence[str], str, str, str, Sequence[Any]]] = {
    "integers": (["1", "-20", "0"], "BIGINT", "", "", [1, -20, 0]),
    "years": (["1999", "2024"], "BIGINT", "", "", [1999, 2024]),
    "18 digits": (["999999999999999999", "1"], "BIGINT", "", "", [999999999999999999, 1]),
    "19 digits": (["1234567890123456789"], "VARCHAR", "", "", ["1234567890123456789"]),
    "round 20 digits": (["10000000000000000000"], "VARCHAR", "", "", ["10000000000000000000"]),
    "blanks around": ([" 12 ", "\t7"], "BIGINT", "", "", [12, 7]),
    "plus sign": (["+5", "-3"], "BIGINT", "", "", [5, -3]),
    "minus behind": (["5-", "3"], "BIGINT", "", "", [-5, 3]),
    "parentheses": (["(5)", "3"], "BIGINT", "", "", [-5, 3]),
    "minus sign of print": (["\u22125", "3"], "BIGINT", "", "", [-5, 3]),
    "comma groups": (["1,234,567", "12"], "BIGINT", ",.", "", [1234567, 12]),
    "Indian groups": (["1,23,456", "12"], "BIGINT", ",.", "", [123456, 12]),
    "point groups": (["1.234.567", "12"], "BIGINT", ".,", "", [1234567, 12]),
    "blank groups": (["1 234", "1 234 567"], "BIGINT", " ,", "", [1234, 1234567]),
    "narrow blank groups": (["1\u202f234", "1\u00a0234\u00a0567"], "BIGINT", " ,", "", [1234, 1234567]),
    "apostrophe groups": (["1'234", "1\u2019234'567"], "BIGINT", "'.", "", [1234, 1234567]),
    "decimals": (["1.5", "2", "-.5", "3."], "DOUBLE", "", "", [1.5, 2.0, -0.5, 3.0]),
    "exponents": (["1e3", "2.5E-2"], "DOUBLE", "", "", [1000.0, 0.025]),
    "decimal comma": (["1,5", "2,25"], "DOUBLE", ",", "", [1.5, 2.25]),
    "decimal comma and groups": (["1.234,50", "2,25"], "DOUBLE", ".,", "", [1234.5, 2.25]),
    "decimal point and groups": (["1,234.50", "2.25"], "DOUBLE", ",.", "", [1234.5, 2.25]),
    "decimal comma and blanks": (["1 234,50", "2,25"], "DOUBLE", " ,", "", [1234.5, 2.25]),
    "decimal point and apostrophes": (["1'234.50", "2.25"], "DOUBLE", "'.", "", [1234.5, 2.25]),
    "0,123 is no thousand": (["0,123", "1,234"], "DOUBLE", ",", "", [0.123, 1.234]),
    "percent": (["12.5 %", "3%", "(4%)", "-5%"], "DOUBLE", "", "%", [12.5, 3.0, -4.0, -5.0]),
    "percent with a comma": (["12,5 %", "3%"], "DOUBLE", ",", "%", [12.5, 3.0]),
    "dollars": (
        ["$1,234.50", "-$3", "$-4.5", "($5.00)", "$ 6", "US$7", "8 USD"],
        "DECIMAL(18,2)",
        ",.2",
        "USD",
        [Decimal(text) for text in ("1234.50", "-3.00", "-4.50", "-5.00", "6.00", "7.00", "8.00")],
    ),
    "euros": (
        ["1.234,50 €", "-3 €", "5- €", "5 €-", "EUR 7,5"],
        "DECIMAL(18,2)",
        ".,2",
        "EUR",
        [Decimal(text) for text in ("1234.50", "-3.00", "-5.00", "-5.00", "7.50")],
    ),
    "francs": (["CHF 1'234.55", "CHF 2.00"], "DECIMAL(18,2)", "'.2", "CHF", [Decimal("1234.55"), Decimal("2.00")]),
    "yen": (["¥1,234,567", "¥12"], "DECIMAL(18,0)", ",.0", "JPY", [Decimal(1234567), Decimal(12)]),
    "crowns": (["12 kr", "3,5 kr."], "DECIMAL(18,1)", ",1", "kr", [Decimal("12.0"), Decimal("3.5")]),
    "ISO dates": (["2024-02-29", "0001-01-01", "9999-12-31"], "DATE", "", "", [_D(2024, 2, 29), _D.min, _D.max]),
    "ISO dates without zeros": (["2024-2-9", "2024-11-30"], "DATE", "", "", [_D(2024, 2, 9), _D(2024, 11, 30)]),
    "day first": (["25/12/2020", "1/2/2020"], "DATE", "%d/%m/%Y", "", [_D(2020, 12, 25), _D(2020, 2, 1)]),
    "month first": (["12/25/2020", "1/2/2020"], "DATE", "%m/%d/%Y", "", [_D(2020, 12, 25), _D(2020, 1, 2)]),
    "dates with points": (["01.02.2020", "3.4.2020"], "DATE", "%d.%m.%Y", "", [_D(2020, 2, 1), _D(2020, 4, 3)]),
    "year first": (["2020/02/01", "2020/12/31"], "DATE", "%Y/%m/%d", "", [_D(2020, 2, 1), _D(2020, 12, 31)]),
    "two digits of the year": (["12/31/99", "12/31/68"], "DATE", "%m/%d/%y", "", [_D(1999, 12, 31), _D(2068, 12, 31)]),
    "month as a word": (["5 Mar 2024", "06 JUN 2024"], "DATE", "%d %b %Y", "", [_D(2024, 3, 5), _D(2024, 6, 6)]),
    "month as a long word": (["5 March 2024", "6 May 2024"], "DATE", "%d %B %Y", "", [_D(2024, 3, 5), _D(2024, 5, 6)]),
    "German words": (["12. März 2024", "3. Mai 2023"], "DATE", "%d. %B %Y", "", [_D(2024, 3, 12), _D(2023, 5, 3)]),
    "French words": (["12 janv. 2024", "3 févr. 2023"], "DATE", "%d %b %Y", "", [_D(2024, 1, 12), _D(2023, 2, 3)]),
    "Spanish words": (["1 de enero de 2023"], "DATE", "%d de %B de %Y", "", [_D(2023, 1, 1)]),
    "Dutch words": (["12 mrt 2024", "5 mei 2023"], "DATE", "%d %b %Y", "", [_D(2024, 3, 12), _D(2023, 5, 5)]),
    "American words": (["Mar 5, 2024", "Dec 31, 2023"], "DATE", "%b %d, %Y", "", [_D(2024, 3, 5), _D(2023, 12, 31)]),
    "Oracle": (["05-MAR-24", "31-DEC-99"], "DATE", "%d-%b-%y", "", [_D(2024, 3, 5), _D(1999, 12, 31)]),
    "timestamps": (
        ["2024-01-02 03:04:05", "2024-01-02T03:04", "2024-01-02 03:04:05.5"],
        "TIMESTAMP",
        "",
        "",
        [_T(2024, 1, 2, 3, 4, 5), _T(2024, 1, 2, 3, 4), _T(2024, 1, 2, 3, 4, 5, 500_000)],
    ),
    "nine zeros": (["2024-01-02 03:04:05.123456000"], "TIMESTAMP", "", "", [_T(2024, 1, 2, 3, 4, 5, 123456)]),
    "nanoseconds": (["2024-01-02 03:04:05.123456789"], "VARCHAR", "", "", ["2024-01-02 03:04:05.123456789"]),
    "half days": (
        ["25/12/2024 5:06 PM", "01/02/2024 12:00 am"],
        "TIMESTAMP",
        "%d/%m/%Y %I:%M %p",
        "",
        [_T(2024, 12, 25, 17, 6), _T(2024, 2, 1)],
    ),
    "times": (["10:30", "9:15:30.25"], "TIME", "", "", [dt.time(10, 30), dt.time(9, 15, 30, 250_000)]),
    "times of half days": (["5:06 PM", "12:30 AM"], "TIME", "%I:%M %p", "", [dt.time(17, 6), dt.time(0, 30)]),
    "hour 24": (["24:00", "10:00"], "VARCHAR", "", "", ["24:00", "10:00"]),
    "booleans": (["true", "FALSE", "True"], "BOOLEAN", "", "", [True, False, True]),
    "yes and no": (["yes", "No"], "BOOLEAN", "", "", [True, False]),
    "ja and nein": (["Ja", "nein"], "BOOLEAN", "", "", [True, False]),
    "sí and no": (["sí", "si", "no"], "BOOLEAN", "", "", [True, True, False]),
    "Norway only": (["NO", "NO"], "VARCHAR", "", "", ["NO", "NO"]),
    "female only": (["F", "F"], "VARCHAR", "", "", ["F", "F"]),
    "zeros and ones": (["0", "1"], "BIGINT", "", "", [0, 1]),
    "leading zeros": (["01234", "99999"], "VARCHAR", "", "", ["01234", "99999"]),
    "telephone numbers": (["+491711234567", "+491719876543"], "VARCHAR", "", "", ["+491711234567", "+491719876543"]),
    "30 February": (["2024-02-30", "2024-02-28"], "VARCHAR", "", "", ["2024-02-30", "2024-02-28"]),
    "before Christ": (["0044-03-15 (BC)"], "VARCHAR", "", "", ["0044-03-15 (BC)"]),
    "year zero": (["0000-01-01"], "VARCHAR", "", "", ["0000-01-01"]),
    "infinity": (["infinity", "1.5"], "VARCHAR", "", "", ["infinity", "1.5"]),
    "digits of another script": (["١٢", "12"], "VARCHAR", "", "", ["١٢", "12"]),
    "underscores": (["1_000", "2"], "VARCHAR", "", "", ["1_000", "2"]),
    "hexadecimal": (["0x10", "2"], "VARCHAR", "", "", ["0x10", "2"]),
    "more digits than a decimal keeps": (
        ["9007199254740993.5", "1.5"], "VARCHAR", "", "", ["9007199254740993.5", "1.5"]
    ),
    "too near to zero": (["1e-400", "1.5"], "VARCHAR", "", "", ["1e-400", "1.5"]),
    "too large": (["1e400", "1.5"], "VARCHAR", "", "", ["1e400", "1.5"]),
    "nothing": (["", ""], "VARCHAR", "", "", [None, None]),
    "a sign inside": (["5$0", "6$0"], "VARCHAR", "", "", ["5$0", "6$0"]),
    "several currencies": (["$5", "5 €"], "VARCHAR", "", "", ["$5", "5 €"]),
}  # fmt: skip


@pytest.mark.parametrize(("cells", "sql_type", "form", "unit", "values"), _READ.values(), ids=list(_READ))
def test_a_column_is_read(
    bench: Bench, cells: Sequence[str], sql_type: str, form: str, unit: str, values: Sequence[Any]
) -> None:
    typed = bench.decide({"x": cells})
    column = typed.column("x")
    assert (typed.types["x"], column["format"], column["unit"]) == (sql_type, form, unit)
    assert typed.values["x"] == list(values)
    assert not typed.decision.questions
    Recipe.model_validate({"text": {}, "columns": typed.decision.columns})


def test_offsets_become_one_clock(bench: Bench) -> None:
    typed = bench.decide(
        {"x": ["2024-01-02T10:00:00Z", "2024-01-02 10:00+02:00", "2024-01-02T10:00:00.5-0330"]}
    )
    assert typed.types["x"] == "TIMESTAMP WITH TIME ZONE"
    assert typed.values["x"] == [
        "2024-01-02 10:00:00+00",
        "2024-01-02 08:00:00+00",
        "2024-01-02 13:30:00.5+00",
    ]


def test_with_and_without_an_offset_do_not_mix(bench: Bench) -> None:
    assert bench.decide({"x": ["2024-01-02T10:00:00Z", "2024-01-02 10:00"]}).types["x"] == "VARCHAR"


@pytest.mark.parametrize("name", ["order_date", "Datum", "day", "orderDate", "fecha"])
def test_eight_digits_are_a_date_where_the_name_says_so(bench: Bench, name: str) -> None:
    typed = bench.decide({name: ["20240305", "19991231"], "number": ["20240305", "19991231"]})
    assert typed.types == {name: "DATE", "number": "BIGINT"}
    assert bench.decide({name: ["20240305", "19991331"]}).types[name] == "BIGINT"


def test_a_telephone_number_is_text_by_its_name(bench: Bench) -> None:
    typed = bench.decide({"Phone number": ["5551234567"], "cellar": ["5551234567"]})
    assert typed.types == {"Phone number": "VARCHAR", "cellar": "BIGINT"}


# Empty words


def test_empty_words_of_numbers(bench: Bench) -> None:
    typed = bench.decide({"x": ["1", "N/A", "-", "nan", "", "None"]})
    assert typed.values["x"] == [1, None, None, None, None, None]
    assert typed.column("x")["empty"] == ["", "N/A", "None", "nan", "-"]


def test_empty_words_of_text(bench: Bench) -> None:
    cells = ["x", "N/A", "NA", "-", "None", "unknown", "NULL", ""]
    typed = bench.decide({"x": cells})
    assert typed.values["x"] == ["x", None, "NA", "-", "None", "unknown", None, None]
    assert typed.column("x")["empty"] == ["", "N/A", "NULL"]


def test_an_empty_word_that_the_sample_does_not_have(bench: Bench) -> None:
    cells = [f"x{row}" for row in range(60_000)]
    cells[55_000] = "N/A"
    numbers = [str(row) for row in range(60_000)]
    numbers[55_500] = "-"
    typed = bench.decide({"x": cells, "n": numbers})
    assert typed.values["x"][55_000] is None
    assert (typed.types["n"], typed.values["n"][55_500], typed.values["n"][55_501]) == (
        "BIGINT",
        None,
        55_501,
    )


# Misfits


def test_a_few_misfits_keep_a_column_text(bench: Bench) -> None:
    cells = [str(row) for row in range(1, 201)]
    cells[6], cells[99] = "seven", "1.5.5"
    typed = bench.decide({"x": cells})
    assert typed.values["x"] == cells
    assert typed.decision.misfits == [
        {"column": "x", "row": 7, "value": "seven"},
        {"column": "x", "row": 100, "value": "1.5.5"},
    ]
    assert typed.decision.misfit_counts == {"x": 2}
    assert [repair["id"] for repair in typed.decision.repairs] == ["misfits-empty:x"]
    assert "2 cells" in typed.decision.repairs[0]["label"]
    repaired = bench.decide({"x": cells}, repairs=["misfits-empty:x"])
    assert (repaired.types["x"], repaired.values["x"][5:8]) == ("BIGINT", [6, None, 8])
    assert repaired.column("x")["misfits"] == "empty"
    assert repaired.decision.misfit_counts == {"x": 2}
    assert not repaired.decision.repairs


def test_many_misfits_are_listed_up_to_a_hundred(bench: Bench) -> None:
    typed = bench.decide({"x": ["1"] * 3000 + ["one"] * 120})
    assert (len(typed.decision.misfits), typed.decision.misfit_counts) == (100, {"x": 120})


@pytest.mark.parametrize("cells", [["1"] * 19 + ["x"], ["1"] * 90 + ["x", "y", "z", "u", "v", "w"]])
def test_too_few_rows_or_too_many_misfits_offer_nothing(bench: Bench, cells: list[str]) -> None:
    typed = bench.decide({"x": cells})
    assert typed.values["x"] == cells
    assert (typed.decision.misfits, typed.decision.repairs) == ([], [])


def test_leading_zeros_are_no_misfits(bench: Bench) -> None:
    cells = [str(row) for row in range(10_000, 10_100)] + ["01234"]
    typed = bench.decide({"zip": cells})
    assert typed.values["zip"] == cells
    assert (typed.decision.misfits, typed.decision.repairs) == ([], [])


def test_mixed_units_are_said(bench: Bench) -> None:
    typed = bench.decide({"price": ["$5", "5 €"] * 20, "rate": ["5%", "5"] * 20})
    assert typed.decision.notes == [
        "Column price stays text: it mixes EUR and USD.",
        "Column rate stays text: it mixes numbers without a unit and percent.",
    ]


def test_more_digits_after_the_mark_than_in_the_sample(bench: Bench) -> None:
    typed = bench.decide({"x": ["$5.25"] * 60_000 + ["$5.125"]})
    assert (typed.types["x"], typed.values["x"][-1]) == ("DECIMAL(18,3)", Decimal("5.125"))


def test_headers_are_trimmed(bench: Bench) -> None:
    typed = bench.decide({" a ": ["1"], "B c": ["2"]})
    assert list(typed.types) == ["a", "B c"]
    assert typed.decision.columns[0]["header"] == " a "
    with pytest.raises(BadFile, match="twice"):
        bench.decide({" a ": ["1"], "A": ["2"]})
