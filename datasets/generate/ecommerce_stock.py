"""What the shop sells: categories with their habits, and the inventory."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import product
from typing import ClassVar

from .prng import Random
from .table import Cell, decimal


@dataclass(frozen=True, slots=True)
class Category:
    name: str
    share: int
    """Weight among all items sold."""
    returns: int
    """Items returned, out of 10,000."""
    promoted: int
    """Items offered at a discount, out of 10,000."""
    variants: tuple[str, ...]
    products: tuple[tuple[str, int, int], ...]
    """Name, price in cents, weight in hundredths of a kilogram."""
    month_percent: dict[int, int] = field(default_factory=dict[int, int])


CATEGORIES = (
    Category("Apparel", 24, 2250, 5200, ("black", "navy", "sand", "red"), (
        ("T-shirt", 1990, 20), ("Hoodie", 4990, 60), ("Rain jacket", 8990, 70), ("Jeans", 6990, 75),
        ("Wool sweater", 7990, 55), ("Linen dress", 5990, 40), ("Socks (3 pairs)", 1290, 15),
    ), {1: 120, 7: 115}),
    Category("Electronics", 19, 1080, 3300, ("S1", "S2", "Pro", "Mini"), (
        ("Headphones", 8990, 30), ("Wireless mouse", 2990, 12), ("Smart speaker", 7990, 95),
        ('Monitor 27"', 24900, 520), ("Power bank", 3490, 35), ("Action camera", 21900, 18),
        ("Keyboard", 5990, 80),
    ), {11: 150, 12: 145}),
    Category("Home & Kitchen", 17, 640, 4100, ("small", "medium", "large", "set"), (
        ("Café press", 2990, 70), ("Chef's knife", 4490, 25), ("Desk lamp, oak", 6990, 180),
        ("Storage box", 1490, 90), ("Duvet cover", 5490, 150), ("Cast iron pan", 3990, 310),
    )),
    Category("Beauty", 11, 390, 3600, ("50 ml", "100 ml", "gift set"), (
        ("Face cream", 1990, 12), ("Shampoo", 790, 30), ("Sun lotion SPF 50", 1490, 22), ("Lip balm", 490, 3),
        ("Perfume", 4990, 25),
    ), {5: 120, 12: 130}),
    Category("Footwear", 9, 1940, 4700, ("classic", "wide", "light"), (
        ("Running shoe", 10990, 65), ("Leather boot", 14990, 140), ("Sandal", 4490, 45),
        ("Sneaker", 7990, 70), ("Hiking boot", 15990, 150),
    ), {1: 115, 7: 120}),
    Category("Toys", 7, 520, 2800, ("small", "large", "deluxe"), (
        ("Building blocks", 3490, 110), ("Puzzle 1000 pieces", 1490, 70), ("Wooden train", 2990, 130),
        ("Board game", 2790, 120), ("Plush bear", 1990, 40),
    ), {11: 190, 12: 260}),
    Category("Sports", 7, 860, 3900, ("basic", "plus", "expert"), (
        ("Yoga mat", 2490, 120), ("Dumbbell", 3990, 1000), ("Bike helmet", 5990, 35), ("Tent", 15990, 420),
        ("Climbing rope", 9990, 390),
    ), {5: 145, 6: 165, 7: 155, 8: 135, 12: 70}),
    Category("Grocery", 4, 120, 2100, ("250 g", "500 g", "1 kg"), (
        ("Olive oil", 990, 50), ("Coffee beans", 890, 50), ("Green tea", 690, 50),
        ("Dark chocolate", 490, 50),
    ), {12: 135}),
    Category("Books", 2, 260, 1500, ("paperback", "hardcover"), (
        ("Novel", 1190, 35), ("Cookbook", 2490, 110), ("Atlas", 3990, 190), ("Children's book", 990, 30),
    ), {12: 150}),
)  # fmt: skip

_SUPPLIERS = (
    "Northwind Supply",
    "Alba Trading",
    "Kaito Works",
    "Meridian Goods",
    "Verde & Co",
    "Fjord Partners",
)


@dataclass(frozen=True, slots=True)
class Product:
    COLUMNS: ClassVar[tuple[str, ...]] = (
        "sku", "product_name", "category", "supplier", "unit_cost", "list_price", "stock_on_hand",
        "reorder_point", "weight_kg", "last_restocked", "discontinued",
    )  # fmt: skip

    sku: str
    name: str
    category: Category
    supplier: str
    list_price: int
    weight: int
    popularity: int
    """0 is the best seller of its category."""

    def row(self, rng: Random, today: date) -> tuple[Cell, ...]:
        cost = self.list_price * rng.between(42, 68) // 100
        reorder = max(90 - 4 * self.popularity, 8)
        discontinued = rng.chance(450)
        stock = 0 if discontinued or rng.chance(500) else reorder * rng.between(30, 480) // 100
        weight = None if rng.chance(800) else decimal(self.weight)
        restocked = None if discontinued else today - timedelta(days=rng.skewed(200))
        return (
            self.sku, self.name, self.category.name, self.supplier, decimal(cost), decimal(self.list_price),
            stock, reorder, weight, restocked, discontinued,
        )  # fmt: skip


def build_stock(rng: Random) -> list[Product]:
    stock: list[Product] = []
    for category in CATEGORIES:
        offered = product(category.variants, category.products)
        for index, (variant, (name, price, weight)) in enumerate(offered):
            scale = 92 + 7 * category.variants.index(variant) + rng.below(8)
            stock.append(
                Product(
                    sku=f"{category.name[:3].upper()}-{index + 1:03d}",
                    name=f"{name} {variant}",
                    category=category,
                    supplier=_SUPPLIERS[rng.skewed(len(_SUPPLIERS))],
                    # Shop prices end in .90, as shop prices do.
                    list_price=price * scale // 10_000 * 100 + 90,
                    weight=weight * scale // 100,
                    popularity=index,
                )
            )
    return stock
