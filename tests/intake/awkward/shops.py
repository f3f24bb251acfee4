"""Exports of web shops: orders, products, reviews, missing values."""

from __future__ import annotations

from tests.intake.awkward.case import Case, table, text


def shops() -> list[Case]:
    orders = table(
        ("Name", "Email", "Paid at", "Total", "Discount Code", "Zip"),
        [
            ("#1001", "a@example.org", "2024-01-31 10:15:00 +0100", "12.50", "", "'01067"),
            ("#1002", "b@example.org", "2024-02-01 09:00:00 +0100", "7.00", "WINTER", "'10115"),
        ],
    )
    products = table(
        ("sku", "price", "vat", "stock", "active"),
        [
            ("00017", "9.99", "19%", "12", "yes"),
            ("00018", "1.50", "7%", "0", "no"),
            ("00020", "3.00", "19%", "5", "yes"),
        ],
    )
    percent = table(
        ("month", "conversion"), [("2024-01", "12.5%"), ("2024-02", "3 %"), ("2024-03", "-1.25%")]
    )
    comma_percent = table(("Monat", "Quote"), [("2024-01", "12,5 %"), ("2024-02", "3,0 %")], ";")
    zips = table(("zip", "city"), [("01067", "Dresden"), ("10115", "Berlin"), ("80331", "München")])
    phones = table(("phone", "n"), [("0049301234567", "1"), ("004940123456", "2")])
    missing = table(
        ("price", "qty", "rating"),
        [("9.99", "N/A", "-"), ("n/a", "3", "4"), ("1.50", "4", "5"), ("", "NULL", "?")],
    )
    namibia = table(("country", "n"), [("NA", "1"), ("DE", "2"), ("FR", "3")])
    reviews = table(
        ("id", "text"), [("1", 'He said "good"'), ("2", "two\nlines"), ("3", "semi; comma, tab\t")]
    )
    flags = table(("id", "gift", "paid"), [("1", "Y", "TRUE"), ("2", "N", "FALSE"), ("3", "Y", "TRUE")])
    amazon = table(
        ("date/time", "order id", "product sales"),
        [
            ("Jan 31, 2024 11:59:01 PM PST", "114-1", "1,299.00"),
            ("Feb 1, 2024 1:00:00 AM PST", "114-2", "5.00"),
        ],
    )
    etsy = table(("Sale Date", "Item Total"), [("01/31/24", "12.00"), ("12/25/23", "8.50")])
    cart = table(("id", "at"), [("1", "2024-01-31T10:15:00Z"), ("2", "2024-02-01T09:00:00.250Z")])
    exponent = table(("id", "weight"), [("1", "1.5E-3"), ("2", "2e2"), ("3", "0.5")])
    spaces = table((" id ", " price "), [(" 1 ", " 9.99 "), (" 2 ", " 1.50 ")])
    return [
        Case(
            "shop_orders.csv",
            text(orders),
            {
                "Name": "text",
                "Email": "text",
                "Paid at": "timestamp",
                "Total": "decimal",
                "Discount Code": "text",
                "Zip": "text",
            },
            2,
        ),
        Case(
            "shop_products.csv",
            text(products),
            {"sku": "text", "price": "decimal", "vat": "percent %", "stock": "integer", "active": "boolean"},
            3,
            cells={"vat": [19.0, 7.0], "sku": ["00017"], "active": [True, False]},
        ),
        Case(
            "conversion.csv",
            text(percent),
            {"month": "text", "conversion": "percent %"},
            3,
            cells={"conversion": [12.5, 3.0, -1.25]},
        ),
        Case(
            "quote.csv",
            text(comma_percent),
            {"Monat": "text", "Quote": "percent %"},
            2,
            cells={"Quote": [12.5, 3.0]},
        ),
        Case("zips.csv", text(zips), {"zip": "text", "city": "text"}, 3),
        Case("phones.csv", text(phones), {"phone": "text", "n": "integer"}, 2),
        Case(
            "missing.csv",
            text(missing),
            {"price": "decimal", "qty": "integer", "rating": "integer"},
            4,
            cells={"qty": [None, 3, 4, None], "rating": [None, 4, 5, None]},
        ),
        Case("namibia.csv", text(namibia), {"country": "text", "n": "integer"}, 3, cells={"country": ["NA"]}),
        Case(
            "reviews.csv",
            text(reviews),
            {"id": "integer", "text": "text"},
            3,
            cells={"text": ['He said "good"', "two\nlines"]},
        ),
        Case("flags.csv", text(flags), {"id": "integer", "gift": "boolean", "paid": "boolean"}, 3),
        Case(
            "settlement.csv",
            text(amazon),
            {"date/time": "text", "order id": "text", "product sales": "decimal"},
            2,
        ),
        Case(
            "sold_items.csv",
            text(etsy),
            {"Sale Date": "date", "Item Total": "decimal"},
            2,
            cells={"Sale Date": ["2024-01-31", "2023-12-25"]},
        ),
        Case("carts.csv", text(cart), {"id": "integer", "at": "timestamp"}, 2),
        Case(
            "exponents.csv",
            text(exponent),
            {"id": "integer", "weight": "decimal"},
            3,
            cells={"weight": [0.0015, 200.0, 0.5]},
        ),
        Case(
            "spaces.csv", text(spaces), {"id": "integer", "price": "decimal"}, 2, cells={"price": [9.99, 1.5]}
        ),
    ]
