"""Statements of banks: signs, currencies, separators, and days that could be months."""

from __future__ import annotations

from tests.intake.awkward.case import Case, table, text


def banks() -> list[Case]:
    german = table(
        ("Buchungstag", "Verwendungszweck", "Betrag", "Währung"),
        [
            (f"{d:02}.03.2024", "Überweisung", f"{1000 + d:,}".replace(",", ".") + ",50", "EUR")
            for d in range(1, 29)
        ],
        ";",
    )
    signed = table(
        ("Datum", "Betrag"),
        [("15.01.2024", "-1.234,50 €"), ("16.01.2024", "20,00 €"), ("31.01.2024", "+3,10 €")],
        ";",
    )
    us = table(
        ("Date", "Description", "Amount"),
        [
            ("01/31/2024", "ACH CREDIT", "$1,234.50"),
            ("02/13/2024", "FEE", "($12.00)"),
            ("02/14/2024", "X", "-$7.25"),
        ],
    )
    uk = table(
        ("Date", "Type", "Paid out", "Paid in"),
        [
            ("31/01/2024", "DD", "£1,020.10", ""),
            ("01/02/2024", "BGC", "", "£2,000.00"),
            ("02/02/2024", "DD", "£3.00", ""),
        ],
    )
    swiss = table(
        ("Valuta", "Saldo CHF"),
        [("31.01.2024", "12'345.60"), ("01.02.2024", "-1'000.00"), ("02.02.2024", "0.00")],
        ";",
    )
    french = table(
        ("Date", "Libellé", "Débit", "Crédit"),
        [
            ("31/01/2024", "Chèque", "1\u202f234,56", ""),
            ("01/02/2024", "Virement", "", "12,00"),
            ("02/02/2024", "É", "7,5", ""),
        ],
        ";",
    )
    indian = table(
        ("Txn Date", "Amt"),
        [("31-01-2024", "₹1,20,000.00"), ("01-02-2024", "₹500.00"), ("02-02-2024", "₹75.50")],
    )
    brazil = table(
        ("Data", "Valor"),
        [("31/01/2024", "R$ 1.234,56"), ("28/02/2024", "R$ 10,00"), ("15/03/2024", "-R$ 3,99")],
        ";",
    )
    trailing = table(
        ("day", "sum"), [("2024-01-01", "100.00-"), ("2024-01-02", "25.10"), ("2024-01-03", "3.99-")]
    )
    ambiguous = table(
        ("date", "amount"), [("03/04/2024", "10.5"), ("05/06/2024", "11.25"), ("07/08/2024", "9.75")]
    )
    decided = table(
        ("booked", "valued", "amount"),
        [("03/04/2024", "25/04/2024", "1.5"), ("05/06/2024", "30/06/2024", "2.5")],
    )
    thousands = table(("item", "amount"), [("a", "1,234"), ("b", "5,678"), ("c", "9,012")], ";")
    settled = table(
        ("item", "amount", "price"),
        [("a", "1,234", "1,234.50"), ("b", "5,678", "5.25"), ("c", "9,012", "7.00")],
        ";",
    )
    mixed = table(("item", "amount"), [("a", "$5.00"), ("b", "€6.00"), ("c", "$7.00")])
    balances = table(
        ("iban", "saldo"), [("DE89370400440532013000", "12.50"), ("DE02120300000000202051", "3.00")]
    )
    return [
        Case(
            "umsaetze_de.csv",
            text(german, "latin-1"),
            {"Buchungstag": "date", "Verwendungszweck": "text", "Betrag": "decimal", "Währung": "text"},
            28,
            cells={"Betrag": [1001.5]},
        ),
        Case(
            "konto_euro.csv",
            text(signed),
            {"Datum": "date", "Betrag": "money EUR"},
            3,
            cells={"Betrag": ["-1234.50", "20.00", "3.10"]},
        ),
        Case(
            "statement_us.csv",
            text(us),
            {"Date": "date", "Description": "text", "Amount": "money USD"},
            3,
            cells={"Date": ["2024-01-31"], "Amount": ["1234.50", "-12.00", "-7.25"]},
        ),
        Case(
            "statement_uk.csv",
            text(uk),
            {"Date": "date", "Type": "text", "Paid out": "money GBP", "Paid in": "money GBP"},
            3,
            cells={"Date": ["2024-01-31", "2024-02-01"]},
        ),
        Case(
            "saldo_ch.csv",
            text(swiss),
            {"Valuta": "date", "Saldo CHF": "decimal"},
            3,
            cells={"Saldo CHF": [12345.6, -1000.0]},
        ),
        Case(
            "releve_fr.csv",
            text(french.replace("\u202f", "\xa0"), "cp1252"),
            {"Date": "date", "Libellé": "text", "Débit": "decimal", "Crédit": "decimal"},
            3,
            cells={"Débit": [1234.56, None, 7.5]},
        ),
        Case(
            "releve_fr_utf8.csv",
            text(french),
            {"Date": "date", "Libellé": "text", "Débit": "decimal", "Crédit": "decimal"},
            3,
            cells={"Débit": [1234.56, None, 7.5]},
        ),
        Case(
            "statement_in.csv",
            text(indian),
            {"Txn Date": "date", "Amt": "money INR"},
            3,
            cells={"Amt": ["120000.00"]},
        ),
        Case(
            "extrato_br.csv",
            text(brazil),
            {"Data": "date", "Valor": "money BRL"},
            3,
            cells={"Valor": ["1234.56", "10.00", "-3.99"]},
        ),
        Case(
            "sap_minus.csv",
            text(trailing),
            {"day": "date", "sum": "decimal"},
            3,
            cells={"sum": [-100.0, 25.1, -3.99]},
        ),
        Case(
            "ambiguous_dates.csv",
            text(ambiguous),
            {"date": "date", "amount": "decimal"},
            3,
            asked=("date",),
            answers={"date": "day-first"},
            cells={"date": ["2024-04-03"]},
        ),
        Case(
            "ambiguous_dates_us.csv",
            text(ambiguous),
            {"date": "date", "amount": "decimal"},
            3,
            asked=("date",),
            answers={"date": "month-first"},
            cells={"date": ["2024-03-04"]},
        ),
        Case(
            "ambiguous_dates_kept.csv",
            text(ambiguous),
            {"date": "text", "amount": "decimal"},
            3,
            asked=("date",),
            answers={"date": "text"},
            cells={"date": ["03/04/2024"]},
        ),
        Case(
            "decided_by_neighbour.csv",
            text(decided),
            {"booked": "date", "valued": "date", "amount": "decimal"},
            2,
            cells={"booked": ["2024-04-03"]},
        ),
        Case(
            "thousands_or_decimals.csv",
            text(thousands),
            {"item": "text", "amount": "integer"},
            3,
            asked=("amount",),
            answers={"amount": "thousands"},
            cells={"amount": [1234]},
        ),
        Case(
            "decimals_or_thousands.csv",
            text(thousands),
            {"item": "text", "amount": "decimal"},
            3,
            asked=("amount",),
            answers={"amount": "decimal-comma"},
            cells={"amount": [1.234]},
        ),
        Case(
            "separators_settled.csv",
            text(settled),
            {"item": "text", "amount": "integer", "price": "decimal"},
            3,
            cells={"amount": [1234]},
        ),
        Case("two_currencies.csv", text(mixed), {"item": "text", "amount": "text"}, 3),
        Case("ibans.csv", text(balances), {"iban": "text", "saldo": "decimal"}, 2),
    ]
