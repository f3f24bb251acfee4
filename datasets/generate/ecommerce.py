"""A web shop over two years: orders, their items, and the stock they came from.

What is in the data to be found: sales peak in November and December and grow from year to year;
a few customers and products make most of the sales; returns depend strongly on the category, a
little on the discount and the channel, and one product is defective since June 2025.
"""

from __future__ import annotations

from datetime import date, timedelta

from .ecommerce_stock import CATEGORIES, Category, Product, build_stock
from .prng import Random, Weighted
from .table import Cell, CsvTable, decimal

FIRST_DAY = date(2024, 1, 1)
LAST_DAY = date(2025, 12, 31)
DEFECTIVE_SINCE = date(2025, 6, 1)
DEFECTIVE_SKU = "ELE-003"

_MONTH_PERCENT = (80, 74, 84, 87, 92, 93, 86, 84, 95, 104, 148, 163)
_WEEKDAY_PERCENT = (102, 96, 94, 97, 106, 112, 93)
_ORDERS_PER_DAY = 11_300  # thousandths, before season and growth

_COUNTRIES: dict[str, tuple[tuple[str, int], ...]] = {
    "Europe": (("Germany", 34), ("France", 24), ("Netherlands", 15), ("Spain", 14), ("Sweden", 8)),
    "North America": (("United States", 80), ("Canada", 20)),
    "Asia Pacific": (("Japan", 38), ("Australia", 33), ("Singapore", 15), ("India", 14)),
    "Latin America": (("Brazil", 62), ("Mexico", 38)),
}
_REGION = Weighted([("Europe", 41), ("North America", 33), ("Asia Pacific", 17), ("Latin America", 9)])
_COUNTRY = {region: Weighted(pairs) for region, pairs in _COUNTRIES.items()}
_TIER = Weighted([("Bronze", 62), ("Silver", 27), ("Gold", 11)])
_CHANNEL = Weighted([("web", 46), ("mobile app", 31), ("marketplace", 16), ("store", 7)])
_PAYMENT = Weighted([("card", 55), ("paypal", 22), ("bank transfer", 9), ("invoice", 8), ("gift card", 6)])
_ITEMS = Weighted([(1, 41), (2, 29), (3, 16), (4, 9), (5, 5)])
_QUANTITY = Weighted([(1, 76), (2, 16), (3, 5), (4, 3)])
_DAYS_TO_DELIVER = {
    "Europe": (2, 5),
    "North America": (2, 6),
    "Asia Pacific": (4, 10),
    "Latin America": (5, 13),
}
_REASONS = {
    "Apparel": Weighted([("wrong size", 58), ("not as described", 22), ("changed mind", 20)]),
    "Footwear": Weighted([("wrong size", 66), ("not as described", 16), ("changed mind", 18)]),
    "Electronics": Weighted([("defective", 49), ("changed mind", 27), ("not as described", 24)]),
}
_OTHER_REASONS = Weighted([("changed mind", 38), ("damaged in transit", 33), ("not as described", 29)])

ORDER_COLUMNS = (
    "order_id", "order_date", "customer_id", "customer_tier", "region", "country", "channel",
    "payment_method", "coupon_code", "status", "delivered_date", "item_count", "shipping_fee", "order_total",
)  # fmt: skip
ITEM_COLUMNS = (
    "order_item_id", "order_id", "order_date", "sku", "category", "quantity", "unit_price",
    "discount_rate", "line_total", "returned", "return_reason", "rating",
)  # fmt: skip

Customer = tuple[str, str, str, str]


def tables() -> list[CsvTable]:
    rng = Random(0xEC0)
    stock = build_stock(rng)
    shop = _Shop(rng, stock)
    day = FIRST_DAY
    while day <= LAST_DAY:
        for _ in range(rng.around(_expected_orders(day))):
            shop.place_order(day)
        day += timedelta(days=1)
    inventory = CsvTable("inventory", Product.COLUMNS, [p.row(rng, LAST_DAY) for p in stock])
    return [shop.orders, shop.items, inventory]


def _expected_orders(day: date) -> int:
    growth = 100 + 24 * (day - FIRST_DAY).days // 730
    return _ORDERS_PER_DAY * _MONTH_PERCENT[day.month - 1] * _WEEKDAY_PERCENT[day.weekday()] * growth // 10**6


def _is_black_week(day: date) -> bool:
    return date(day.year, 11, 23) <= day <= date(day.year, 12, 1)


class _Shop:
    def __init__(self, rng: Random, stock: list[Product]) -> None:
        self.rng = rng
        self.orders = CsvTable("orders", ORDER_COLUMNS)
        self.items = CsvTable("order_items", ITEM_COLUMNS)
        self.by_category = {c.name: [p for p in stock if p.category is c] for c in CATEGORIES}
        self.category_of_month = [
            Weighted([(c, c.share * c.month_percent.get(month, 100)) for c in CATEGORIES])
            for month in range(1, 13)
        ]
        self.customers = [self._customer(n) for n in range(1, 2401)]

    def _customer(self, number: int) -> Customer:
        region = _REGION.draw(self.rng)
        return f"C{number:05d}", _TIER.draw(self.rng), region, _COUNTRY[region].draw(self.rng)

    def place_order(self, day: date) -> None:
        rng = self.rng
        order_id = 100_001 + len(self.orders.rows)
        customer, tier, region, country = self.customers[rng.skewed(len(self.customers))]
        channel = _CHANNEL.draw(rng)
        coupon = self._coupon(day, tier)
        status, delivered = self._delivery(day, region)
        total = count = 0
        if status != "cancelled":
            count = _ITEMS.draw(rng)
            total = sum(
                self._add_item(order_id, day, channel, coupon, status == "delivered") for _ in range(count)
            )
        free = total >= 5000 or tier == "Gold" or channel == "store" or not count
        fee = 0 if free else rng.choice((395, 495, 695))
        guest = rng.chance(700)
        row: tuple[Cell, ...] = (
            order_id, day, None if guest else customer, None if guest else tier, region, country, channel,
            None if rng.chance(120) else _PAYMENT.draw(rng), coupon, status, delivered, count,
            decimal(fee), decimal(total),
        )  # fmt: skip
        self.orders.rows.append(row)

    def _coupon(self, day: date, tier: str) -> str | None:
        if _is_black_week(day):
            return "BLACKWEEK" if self.rng.chance(6200) else None
        if tier == "Gold" and self.rng.chance(2500):
            return "GOLD10"
        if day.month in (1, 7) and self.rng.chance(2200):
            return "SALE20"
        return "WELCOME5" if self.rng.chance(600) else None

    def _delivery(self, day: date, region: str) -> tuple[str, date | None]:
        if self.rng.chance(340):
            return "cancelled", None
        fastest, slowest = _DAYS_TO_DELIVER[region]
        late = self.rng.between(3, 12) if self.rng.chance(500) else 0
        rush = 2 if day.month == 12 else 0
        delivered = day + timedelta(days=self.rng.between(fastest, slowest) + late + rush)
        if delivered <= LAST_DAY:
            return "delivered", delivered
        return ("processing" if (LAST_DAY - day).days < 2 else "shipped"), None

    def _add_item(self, order_id: int, day: date, channel: str, coupon: str | None, delivered: bool) -> int:
        rng = self.rng
        category = self.category_of_month[day.month - 1].draw(rng)
        shelf = self.by_category[category.name]
        product = shelf[rng.skewed(len(shelf))]
        quantity = _QUANTITY.draw(rng)
        price = product.list_price if day.year == 2025 else product.list_price * 96 // 100
        percent = self._discount_percent(day, category, coupon)
        total = (quantity * price * (100 - percent) + 50) // 100
        returned = delivered and rng.chance(_return_chance(product, day, channel, percent))
        reason = None
        if returned and not rng.chance(1300):
            reason = _REASONS.get(category.name, _OTHER_REASONS).draw(rng)
        row: tuple[Cell, ...] = (
            len(self.items.rows) + 1, order_id, day, product.sku, category.name, quantity, decimal(price),
            decimal(percent), decimal(total), returned, reason, self._rating(delivered, returned),
        )  # fmt: skip
        self.items.rows.append(row)
        return total

    def _discount_percent(self, day: date, category: Category, coupon: str | None) -> int:
        if _is_black_week(day):
            return self.rng.choice((10, 15, 20, 25, 30, 40))
        if category.name in ("Apparel", "Footwear") and day.month in (1, 7):
            return self.rng.choice((0, 10, 20, 30, 30, 50))
        base = self.rng.choice((5, 5, 10, 10, 15, 20)) if self.rng.chance(category.promoted) else 0
        extra = {"GOLD10": 10, "SALE20": 20, "WELCOME5": 5}.get(coupon or "", 0)
        return max(base, extra)

    def _rating(self, delivered: bool, returned: bool) -> int | None:
        if not delivered or not self.rng.chance(3400):
            return None
        if returned:
            return self.rng.choice((1, 1, 2, 2, 3, 4))
        return self.rng.choice((2, 3, 3, 4, 4, 4, 5, 5, 5, 5, 5))


def _return_chance(product: Product, day: date, channel: str, percent: int) -> int:
    """Out of 10,000."""
    if product.sku == DEFECTIVE_SKU and day >= DEFECTIVE_SINCE:
        return 5200
    chance = product.category.returns * (100 + percent) // 100
    if channel == "marketplace":
        chance = chance * 125 // 100
    if channel == "store":
        chance = chance * 60 // 100
    return chance
