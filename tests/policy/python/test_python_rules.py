"""Single rules: what passes beside what does not, which part of the text is marked, what is advised."""

from __future__ import annotations

import sys

import pytest

from sandtable.errors import ErrorCode
from sandtable.policy.python import bound_names
from sandtable.policy.verdict import Approved, Refused
from sandtable_runner.parse_python import parse
from tests.policy.python.shop import verdict

_PLAIN = """
from datetime import datetime; print(datetime(2025, 1, 1).year)
orders.group_by("region").agg(pl.col("a").sum(), pl.col("b").mean(), n=pl.len())
f.agg(*[pl.col(c).mean() for c in ["a"]])
total = pl.col("x").sum(); f.agg(total, pl.len(), (pl.col("x") * 2).alias("z"))
f.agg(**{c: pl.col(c).sum() for c in cols})
f.agg(**{"a": pd.NamedAgg("x", "sum")})
alt.data_transformers.disable_max_rows()
print(error.__class__.__name__)
df.load.mean()
orders.style.format("{:.2f}")
orders.style.format({"a": "{:.1%}"}).hide()
df.groupby("a").apply(lambda g: g.nlargest(1, "x"), include_groups=False)
s.apply(str.upper)
df.apply(pd.to_numeric, errors="coerce")
import scipy.stats as stats; stats.pearsonr(a, b)
import scipy; scipy.stats.norm.cdf(1)
from plotly import graph_objects as go; go.Figure(data=[go.Bar(x=[1], y=[2])])
import plotly; plotly.express.bar(x=[1], y=[2])
import collections.abc; isinstance([], collections.abc.Sequence)
vars = ["a"]; print(vars)
open = orders["order_total"].iloc[0]; print(open)
pd.api.types.is_numeric_dtype(orders["order_total"])
pd.tseries.offsets.MonthEnd(1)
orders.query("region in ['a', 'b'] and `order total` > 1")
orders.eval("a = b.str.lower()", engine="python")
print(f"{x=} {y!r:>{w}}")
orders.agg({"order_total": ["sum", lambda s: s.max() - s.min()]})
orders.groupby("r").agg(spread=("order_total", lambda s: s.max() - s.min()), q=("order_total", np.median))
wide.pivot_table(index="a", values="b", aggfunc={"b": ["sum", np.mean]}, margins=True)
fig.to_json(); chart.to_dict(); orders.to_markdown(index=False); orders.to_csv(path_or_buf=None, index=False)
row._replace(a=1)._asdict()
with pl.Config(tbl_rows=5): print(orders)
pd.Timestamp("2025-01-01") + pd.Timedelta(days=1)
x = orders.region; x.name
print(kind == "to_csv")
words = ["sum", "to_pickle", "__class__"]; print("__dict__" in words)
orders.isin(["__class__"]); {"to_csv": 1}["to_csv"]
fmt = "{:.1f}" if x else "{:.2f}"; fmt.format(1)
formats = {"a": "{:.1f}"}; [formats[c].format(1) for c in formats]
[getattr(orders, m)() for m in ("sum", "mean")]
for a, b in zip([], ["{}"]): b.format(a)
names = ["sum", "mean"]; [getattr(orders, m)() for m in names]
orders.agg(top=("load", "max"), query=("format", "min"))
s = orders.style; s.format("{:.1f}").hide()
def f(x: "list[pd.Series]", y: "int | None" = None) -> "pd.DataFrame": return x
row._1 + row._23
pd.__version__; f.__doc__; print(f.__qualname__)
orders.to_csv(None); orders.to_string(float_format="{:.1f}")
class A(TypedDict, total=False): a: int
super().__repr__(); super().__setitem__("a", 1)
df.open.max() - df.close.min()
""".strip().splitlines()


@pytest.mark.parametrize("text", _PLAIN)
def test_plain_line_passes(text: str) -> None:
    found = verdict(text)
    assert isinstance(found, Approved), found


_REFUSED = [
    ("import matplotlib.pyplot as plt", "matplotlib.pyplot as plt", "px"),
    (
        "from sklearn.linear_model import LinearRegression",
        "from sklearn.linear_model import LinearRegression",
        "scipy",
    ),
    ("from pandas.api.types import is_bool", "from pandas.api.types import is_bool", "already here as `pd`"),
    ("import duckdb", "duckdb", "sql('select"),
    ("x = 1\nplt.plot(x)", "plt", "px"),
    ("orders.plot.bar()", "plot", "px.bar"),
    ("fig.show()", "show", "show(fig)"),
    ("chart.save('x.html')", "save", "show(chart)"),
    ("orders.to_csv('x.csv', index=False)", "to_csv", "df.to_csv()"),
    ("pd.read_csv('x.csv')", "read_csv", "orders"),
    ("pd.read_sql('select 1', 5)", "read_sql", "sql("),
    ("pd.DataFrme()", "DataFrme", "DataFrame"),
    ("orders.query(f'a > {x}')", "orders.query(f'a > {x}')", "@"),
    ("template.format(1)", "format", "f-string"),
    ("for m in ms:\n    getattr(orders, m)()", "getattr(orders, m)", "df[name]"),
    ("pd.options.display.max_rows = 5", "options", "set_option"),
    ("x = [pd]", "pd", "pd.…"),
    ("orders.agg(['sum', 'to_pickle'])", "orders.agg(['sum', 'to_pickle'])", "sum, mean"),
    ("for m in ('sum', 'to_sql'):\n    getattr(orders, m)()", "getattr(orders, m)", "public"),
    ("call = orders.agg", "agg", "where you need it"),
    ("orders.style.format(text)", "orders.style.format(text)", "literal"),
    ("orders.style.env", "env", "df.style.format"),
    ("def f(x: 'int()'): pass", "'int()'", "Name a type"),
    ("functools.singledispatch(f)", "singledispatch", "isinstance"),
    ("np.bmat('a')", "bmat", "np.block"),
    ("orders.hist(backend='x')", "orders.hist(backend='x')", "px.histogram"),
    ("scipy.optimize.brute(f, r, workers=2)", "scipy.optimize.brute(f, r, workers=2)", "leave `workers` out"),
    ("pd.set_option('display.a|b', 1)", "pd.set_option('display.a|b', 1)", "display.max_rows"),
    ("@functools.wraps(f, a)\ndef g(): pass", "functools.wraps(f, a)", "Leave the other arguments out"),
    ("match x:\n    case str(format=f): pass", "str(format=f)", "plain values"),
    ("é = 'ü'; orders.__class__", "__class__", "type(x)"),
    ("é = 'ü'\r\nb = f'ä{orders.__dict__}'", "__dict__", "public"),
    ("print(f'''\n{open}\n''')", None, "no files"),
    ("async def f():\n    pass", "f", "plain def"),
    ("class A(metaclass=B):\n    pass", "A", "plain class"),
    ("class A:\n    @property\n    def __dict__(self):\n        return 1", "__dict__", "plain name"),
    ("from math import *", "*", "name what you need"),
    ("pd.x = 5", "x", "variable of your own"),
    ("string = string.upper()", "upper", "string"),
    ("tables.__getitem__('x')", "__getitem__", "public"),
    ("a.\\\n  __class__", "__class__", "type(x)"),
    ("np.row_stack([a, b])", "row_stack", "np.vstack"),
]
_REFUSED_SINCE = {
    (3, 12): [
        ("type Number = int", "type Number = int", "Name = list[int]"),
        ("def f[T](x: T) -> T:\n    return x", "T", "leave the square brackets out"),
        ("class A[*Ts]:\n    pass", "*Ts", "leave the square brackets out"),
        ("class A[**P]:\n    pass", "**P", "leave the square brackets out"),
        ("é = f'ä{orders['a'].__dict__}'", "__dict__", "public"),
    ],
    (3, 13): [("def f[T = int]():\n    pass", "T = int", "leave the square brackets out")],
}
"""What older Pythons cannot read at all."""
_REFUSED += [case for since, cases in _REFUSED_SINCE.items() if sys.version_info >= since for case in cases]


@pytest.mark.parametrize(("text", "marked", "advised"), _REFUSED)
def test_refusal_marks_and_advises(text: str, marked: str | None, advised: str) -> None:
    found = verdict(text)
    assert isinstance(found, Refused)
    assert found.code is ErrorCode.PYTHON_POLICY_VIOLATION
    assert found.position is not None
    if marked is not None:
        assert text[found.position : found.position + found.length] == marked
    assert advised in found.suggestion


def test_the_first_trouble_in_the_text_is_named() -> None:
    found = verdict("a = 1\nopen('x')\nimport os\n")
    assert isinstance(found, Refused)
    assert found.construct == "open"


@pytest.mark.parametrize(
    ("text", "line", "advised"),
    [
        ("x = (1,\n", "(", "closed"),
        ("if x:\npass", "p", "indent"),
        ("print 'x'", "p", "print(…)"),
        ("x = “a”", "“", "plain"),
    ],
)
def test_syntax_error_is_the_callers_mistake(text: str, line: str, advised: str) -> None:
    found = verdict(text)
    assert isinstance(found, Refused)
    assert found.code is ErrorCode.VALIDATION_ERROR
    assert found.construct == "syntax"
    assert found.position is not None
    assert text[found.position : found.position + found.length] == line
    assert advised in found.suggestion


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("orders.merge(order_items)", ("order_items", "orders")),
        ("tables['orders']", ("orders",)),
        ("tables[x]", ("inventory", "order_items", "orders")),
        ("sql('select * from INVENTORY')", ("inventory",)),
        ("sql(query)", ("inventory", "order_items", "orders")),
        ("con.execute('from orders').df()", ("orders",)),
        ("def f(orders):\n    return orders", ()),
        ("orders = 5\nprint(orders)", ()),
        ("orders = orders.head()", ("orders",)),
        ("awards.head()", ("inventory", "order_items", "orders")),
    ],
)
def test_tables(text: str, tables: tuple[str, ...]) -> None:
    found = verdict(text, names=("awards",))
    assert isinstance(found, Approved)
    assert found.tables == tables


@pytest.mark.parametrize(
    ("text", "volatile"),
    [
        ("datetime.datetime.now()", ("datetime.datetime.now",)),
        ("from datetime import date\ndate.today()", ("date.today",)),
        ("pd.Timestamp.now()", ("pd.Timestamp.now",)),
        ("pd.to_datetime('today')", ("pd.to_datetime('now')",)),
        ("id(orders)", ("id",)),
        ("random.Random().random()", ("random.Random",)),
        ("random.Random(5).random(); random.random(); np.random.rand(); np.random.default_rng()", ()),
        ("sql('select now(), today()')", ("now in SQL", "today in SQL")),
        ("sql('select 1 as x'); print('now')", ()),
    ],
)
def test_volatile(text: str, volatile: tuple[str, ...]) -> None:
    found = verdict(text)
    assert isinstance(found, Approved)
    assert found.volatile == volatile
    assert len(found.warnings) == len(volatile)


_NAMES = [f"n{number}" for number in range(40)]
_ENDLESS = {
    "names in circles": "a = b\nb = a if a else b\na.format(1)",
    "many ways": "\n".join(f"{a} = {b} if x else {c}" for a in _NAMES for b in _NAMES for c in _NAMES[:5])
    + "\nn0.format(1)",
    "many items": f"t = ({'1, ' * 3000})\nfor x in t:\n    getattr(orders, x)",
    "an annotation of itself": "A = B\nB = A | C\nC = B()\nx: A = 1",
    "a class of itself": "class A(A): x = 1\nA().to_pickle('x')",
}


@pytest.mark.parametrize("text", _ENDLESS.values(), ids=list(_ENDLESS))
def test_what_cannot_be_followed_to_its_end_is_refused(text: str) -> None:
    assert isinstance(verdict(text), Refused)


def test_later_cells_may_use_what_earlier_ones_bound() -> None:
    first = "from datetime import datetime\nimport pandas as pd\nstring = 'x'\ndef vars(): return 1\n"
    names = bound_names(first, parse(first))
    assert names == {"datetime", "string", "vars"}
    second = "print(datetime(2025, 1, 1), string, vars())"
    assert isinstance(verdict(second), Refused)
    assert isinstance(verdict(second, names=tuple(names)), Approved)
    assert isinstance(verdict("print(datetime.sys, pd)", names=tuple(names)), Refused)


@pytest.mark.parametrize(
    ("first", "second", "construct"),
    [
        ("from functools import update_wrapper", "update_wrapper(a, b, ['c'])", "update_wrapper"),
        ("from pandas import set_option", "set_option('plotting.backend', 'x')", "set_option"),
        ("from pandas import NamedAgg", "NamedAgg('a', 'to_csv', 'x')", "to_csv"),
        ("from operator import attrgetter", "attrgetter('__class__')", "attrgetter"),
        ("template = '{0.__class__}'", "template.format(1)", "format"),
        ("names = ['sum']", "for name in names:\n    getattr(x, name)", "getattr"),
        ("names = ['sum']", "names = ['mean']\nfor name in names:\n    getattr(x, name)", "getattr"),
    ],
)
def test_later_cells_are_held_to_the_rules_for_what_earlier_ones_imported(
    first: str, second: str, construct: str
) -> None:
    assert isinstance(verdict(first), Approved)
    names = tuple(bound_names(first, parse(first)))
    found = verdict(second, names=names)
    assert isinstance(found, Refused)
    assert found.construct == construct


def test_a_variable_of_an_earlier_cell_may_be_named_like_a_function() -> None:
    first = "crosstab = pd.crosstab(orders['region'], orders['status'])\nclass Row: pass"
    names = tuple(bound_names(first, parse(first)))
    assert isinstance(verdict("crosstab.head()\ndef f(x: Row) -> Row: return x", names=names), Approved)
