"""Files of statistics offices: titles, footers, encodings, ragged rows."""

from __future__ import annotations

from tests.intake.awkward.case import Case, table, text


def government() -> list[Case]:
    titled = "Statistisches Bundesamt\r\nBevölkerung nach Ländern\r\n\r\n" + table(
        ("Land", "Stichtag", "Bevölkerung"),
        [("Bayern", "31.12.2023", "13.435.062"), ("Berlin", "31.12.2023", "3.782.202")],
        ";",
    )
    footer = (
        table(("area", "n"), [("north", "1"), ("south", "2")]) + "Source: Office for National Statistics\r\n"
    )
    bom = "\ufeff" + table(("país", "población"), [("España", "48.592.909"), ("Portugal", "10.639.726")], ";")
    utf16 = table(("région", "valeur"), [("Île-de-France", "12,5"), ("Bretagne", "3,25")], "\t")
    wide = table([f"c{n}" for n in range(1200)], [[str(n) for n in range(1200)]])
    duplicates = table(("name", "2023", "2023"), [("a", "1", "2"), ("b", "3", "4")])
    ons = "Title,Population\r\nUnit,persons\r\n" + table(
        ("Year", "Value"), [("2022", "67.6"), ("2023", "68.3")]
    )
    empty_rows = "area,n\r\n\r\nnorth,1\r\n\r\nsouth,2\r\n\r\n"
    dots = table(("area", "n"), [("north", "."), ("south", "12"), ("east", "7"), ("west", "..")])
    iso_week = table(("week", "n"), [("2024-W01", "1"), ("2024-W02", "2")])
    quarter = table(("quarter", "gdp"), [("2024-Q1", "1.2"), ("2024-Q2", "1.3")])
    blank_column = "area,n,\r\nnorth,1,\r\nsouth,2,\r\n"
    only_header = "area,n\r\n"
    mac = "area\tn\rnorth\t1\rsouth\t2\r"
    short = "area,n,m\r\nnorth,1,2\r\nsouth,3\r\neast,4,5\r\n"
    quoted = '"area","n"\r\n"north","1"\r\n"south","2"\r\n'
    return [
        Case(
            "destatis.csv",
            text(titled, "latin-1"),
            {"Land": "text", "Stichtag": "date", "Bevölkerung": "integer"},
            2,
            refused="field",
            repair="skip-rows:3",
            cells={"Bevölkerung": [13435062]},
        ),
        Case(
            "footer.csv",
            text(footer),
            {"area": "text", "n": "integer"},
            2,
            refused="field",
            repair="drop-rows",
        ),
        Case(
            "bom_es.csv",
            text(bom),
            {"país": "text", "población": "integer"},
            2,
            cells={"población": [48592909]},
        ),
        Case("utf16.csv", text(utf16, "utf-16"), {"région": "text", "valeur": "decimal"}, 2),
        Case("wide.csv", text(wide), {"c0": "integer", "c1199": "integer"}, 1),
        Case(
            "duplicate_headers.csv",
            text(duplicates),
            {"name": "text", "2023": "integer", "2023_2": "integer"},
            2,
            refused="twice",
            repair="rename-duplicates",
        ),
        Case("ons.csv", text(ons), {"Title": "text", "Population": "text"}, 4),
        Case("empty_rows.csv", text(empty_rows), {"area": "text", "n": "integer"}, 2),
        Case("dots.csv", text(dots), {"area": "text", "n": "integer"}, 4, cells={"n": [None, 12, 7, None]}),
        Case("weeks.csv", text(iso_week), {"week": "text", "n": "integer"}, 2),
        Case("quarters.csv", text(quarter), {"quarter": "text", "gdp": "decimal"}, 2),
        Case("blank_column.csv", text(blank_column), {"area": "text", "n": "integer", "column_3": "text"}, 2),
        Case("only_header.csv", text(only_header), {"area": "text", "n": "text"}, 0),
        Case("mac_lines.csv", text(mac), {"area": "text", "n": "integer"}, 2),
        Case(
            "short_row.csv",
            text(short),
            {"area": "text", "n": "integer", "m": "integer"},
            3,
            refused="field",
            repair="pad-rows",
            cells={"m": [2, None, 5]},
        ),
        Case("quoted.csv", text(quoted), {"area": "text", "n": "integer"}, 2),
    ]
