"""Exports of ERP systems: codes with zeros, grouped numbers, months in words."""

from __future__ import annotations

from tests.intake.awkward.case import Case, table, text


def erps() -> list[Case]:
    sap = (
        "Werk|Material|Menge|Datum\n"
        "0001|000000000012345678|1.234,000|20240131\n"
        "0002|000000000012345679|5,500|20240201\n"
    )
    navision = table(
        ("Posting Date", "Document No.", "Amount"),
        [("31-01-24", "INV-001", "1.234,50"), ("01-02-24", "INV-002", "-7,00")],
        ";",
    )
    oracle = table(("CREATED", "QTY"), [("31-JAN-24", "5"), ("01-FEB-24", "7")])
    long_month = table(("shipped", "n"), [("5 March 2024", "1"), ("17 April 2024", "2")])
    us_month = table(("shipped", "n"), [("Mar 5, 2024", "1"), ("Apr 17, 2024", "2")])
    tabs = table(("id", "hours"), [("1", "7.5"), ("2", "8")], "\t")
    pipes = table(("id", "hours"), [("1", "7.5"), ("2", "8")], "|")
    sep_line = "sep=;\r\nid;hours\r\n1;7,5\r\n2;8,25\r\n"
    times = table(("shift", "start", "end"), [("A", "06:00", "14:00"), ("B", "14:00", "22:30")])
    clock = table(("at", "n"), [("1/31/2024 2:05 PM", "1"), ("2/14/2024 11:30 AM", "2")])
    german_at = table(("Zeitpunkt", "n"), [("31.01.2024 14:05", "1"), ("01.02.2024 09:30", "2")], ";")
    big_ids = table(("id", "n"), [("12345678901234567890", "1"), ("12345678901234567891", "2")])
    booleans = table(("Artikel", "Lagernd"), [("a", "Ja"), ("b", "Nein"), ("c", "Ja")], ";")
    oui = table(("article", "stock"), [("a", "Oui"), ("b", "Non")], ";")
    grouped = table(("plant", "units"), [("a", "1,234,567"), ("b", "12,000"), ("c", "7")], ";")
    year = table(("year", "sales"), [("2023", "100"), ("2024", "120")])
    few_bad = table(
        ("id", "qty"), [*((str(n), str(n * 3)) for n in range(1, 60)), ("60", "about 5"), ("61", "x")]
    )
    plus = table(("d", "delta"), [("2024-01-01", "+5"), ("2024-01-02", "-3")])
    kr = table(("dag", "belopp"), [("2024-01-31", "1 234,50 kr"), ("2024-02-01", "20,00 kr")], ";")
    yen = table(("日付", "金額"), [("2024/01/31", "¥1,200"), ("2024/02/01", "¥350")])
    japanese = table(
        ("日付", "都市", "件数"),
        [(f"2024/01/{1 + n % 31:02}", ("東京", "大阪", "名古屋")[n % 3], str(n)) for n in range(40)],
    )
    return [
        Case(
            "mb52.txt",
            text(sap),
            {"Werk": "text", "Material": "text", "Menge": "decimal", "Datum": "date"},
            2,
            cells={"Menge": [1234.0, 5.5], "Datum": ["2024-01-31"]},
        ),
        Case(
            "navision.csv",
            text(navision),
            {"Posting Date": "date", "Document No.": "text", "Amount": "decimal"},
            2,
            asked=("Posting Date",),
            answers={"Posting Date": "day-first"},
            cells={"Posting Date": ["2024-01-31", "2024-02-01"]},
        ),
        Case(
            "oracle.csv",
            text(oracle),
            {"CREATED": "date", "QTY": "integer"},
            2,
            cells={"CREATED": ["2024-01-31"]},
        ),
        Case(
            "long_months.csv",
            text(long_month),
            {"shipped": "date", "n": "integer"},
            2,
            cells={"shipped": ["2024-03-05"]},
        ),
        Case(
            "us_months.csv",
            text(us_month),
            {"shipped": "date", "n": "integer"},
            2,
            cells={"shipped": ["2024-03-05"]},
        ),
        Case("hours.tsv", text(tabs), {"id": "integer", "hours": "decimal"}, 2),
        Case("hours.txt", text(pipes), {"id": "integer", "hours": "decimal"}, 2),
        Case(
            "sep_line.csv",
            text(sep_line),
            {"id": "integer", "hours": "decimal"},
            2,
            cells={"hours": [7.5, 8.25]},
        ),
        Case("shifts.csv", text(times), {"shift": "text", "start": "time", "end": "time"}, 2),
        Case(
            "am_pm.csv",
            text(clock),
            {"at": "timestamp", "n": "integer"},
            2,
            cells={"at": ["2024-01-31 14:05:00"]},
        ),
        Case(
            "zeitpunkte.csv",
            text(german_at),
            {"Zeitpunkt": "timestamp", "n": "integer"},
            2,
            cells={"Zeitpunkt": ["2024-01-31 14:05:00"]},
        ),
        Case("big_ids.csv", text(big_ids), {"id": "text", "n": "integer"}, 2),
        Case("lager.csv", text(booleans), {"Artikel": "text", "Lagernd": "boolean"}, 3),
        Case("stock_fr.csv", text(oui), {"article": "text", "stock": "boolean"}, 2),
        Case(
            "grouped_units.csv",
            text(grouped),
            {"plant": "text", "units": "integer"},
            3,
            cells={"units": [1234567, 12000, 7]},
        ),
        Case("years.csv", text(year), {"year": "integer", "sales": "integer"}, 2),
        Case("few_bad.csv", text(few_bad), {"id": "integer", "qty": "text"}, 61, misfits={"qty": 2}),
        Case("plus_signs.csv", text(plus), {"d": "date", "delta": "integer"}, 2, cells={"delta": [5, -3]}),
        Case("kronor.csv", text(kr), {"dag": "date", "belopp": "money kr"}, 2, cells={"belopp": ["1234.50"]}),
        Case(
            "yen.csv",
            text(yen),
            {"日付": "date", "金額": "money JPY"},
            2,
            cells={"金額": ["1200"]},
        ),
        Case(
            "won.csv",
            text(table(("item", "price"), [("a", "₩12,500"), ("b", "₩900")])),
            {"item": "text", "price": "money KRW"},
            2,
            cells={"price": ["12500", "900"]},
        ),
        Case(
            "giorni.csv",
            text(table(("giorno", "n"), [("5 gennaio 2024", 1), ("6 Dicembre 2022", 2)])),
            {"giorno": "date", "n": "integer"},
            2,
            cells={"giorno": ["2024-01-05", "2022-12-06"]},
        ),
        Case(
            "dos.csv",
            text(table(("Name", "Ort"), [("Jürgen Weiß", "Köln"), ("René", "Zürich")], ";"), "cp850"),
            {"Name": "text", "Ort": "text"},
            2,
            cells={"Name": ["Jürgen Weiß", "René"]},
        ),
        Case(
            "dos_cyrillic.csv",
            text(table(("Имя", "Город"), [("Иванов", "Москва"), ("Петров", "Казань")], ";"), "cp866"),
            {"Имя": "text", "Город": "text"},
            2,
            cells={"Город": ["Москва", "Казань"]},
        ),
        Case(
            "signed_out.csv",
            b"\n<!-- proxy -->\n<!DOCTYPE html>\n<html><body>Sign in, please</body></html>\n",
            refused="is a web page (HTML)",
        ),
        Case(
            "kensu.csv",
            text(japanese, "shift_jis"),
            {"日付": "date", "都市": "text", "件数": "integer"},
            40,
            cells={"都市": ["東京", "大阪"]},
        ),
    ]
