"""A small shop, and how files are brought to its catalog."""

from __future__ import annotations

from pathlib import Path

from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.catalog.semantics.editions import CatalogEditions
from sandtable.catalog.semantics.exchange.importing import Import, prepare, read_file
from sandtable.plan.validate import metric_problems

HERE = Path(__file__).parent
_TYPES = {ColumnType.TEXT: "VARCHAR", ColumnType.DECIMAL: "DECIMAL(10,2)", ColumnType.DATE: "DATE"}


def column(name: str, type: ColumnType = ColumnType.TEXT) -> Column:
    return Column(name=name, type=type, sql_type=_TYPES[type])


SHOP = Dataset(
    id="shop",
    tables=(
        Table(
            name="orders",
            file="orders.csv",
            sha256="a" * 64,
            columns=(
                column("order_id"),
                column("Amount", ColumnType.DECIMAL),
                column("tax", ColumnType.DECIMAL),
                column("customer_id"),
                column("day", ColumnType.DATE),
                column("status"),
            ),
        ),
        Table(
            name="customers", file="customers.csv", sha256="b" * 64, columns=(column("id"), column("tier"))
        ),
    ),
    version="sha256:" + "0" * 64,
)


def editions(folder: Path) -> CatalogEditions:
    return CatalogEditions(folder, metric_problems)


def brought(kept: CatalogEditions, text: str, dataset: Dataset = SHOP) -> Import:
    return prepare(kept, dataset, read_file(text))


def reasons(found: Import) -> dict[str, str]:
    """Of whole parts that have no use, by kind and name."""
    return {f"{each.kind} {each.name}": each.reason for each in found.unused if "name" in each.content}
