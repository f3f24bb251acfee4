"""Which members of a module may be used: an allow list per module, kept in `members.json`.

Invariant: no member on the list is itself a module. A module inside a module is used only when it is
a key of the list.
"""

from __future__ import annotations

import json
from difflib import get_close_matches
from importlib.resources import files

from sandtable.policy.python.names import CONNECTION

_ROOTS = ("plotly", "scipy", "pandas.api", "pandas.tseries")
"""Modules that are only on the way to another."""

_OF_CONNECTION = frozenset(
    "execute executemany sql query fetchall fetchone fetchmany fetchdf fetchnumpy df pl description table".split()
)

MEMBERS: dict[str, frozenset[str]] = {
    CONNECTION: _OF_CONNECTION,
    "altair.data_transformers": frozenset({"disable_max_rows"}),
    **{root: frozenset[str]() for root in _ROOTS},
    **{
        module: frozenset(str(names).split())
        for module, names in json.loads(
            files(__package__ or "").joinpath("members.json").read_text("utf-8")
        ).items()
    },
}

CHECKED: frozenset[str] = frozenset(
    """
    operator.attrgetter operator.methodcaller functools.wraps functools.update_wrapper pandas.set_option
    pandas.option_context pandas.reset_option pandas.get_option pandas.pivot_table pandas.crosstab
    pandas.NamedAgg pandas.NamedFunc
    """.split()
)
"""Members whose arguments are looked at where they are called. Imported, they keep their names: by these a later
cell of a session is known to call them."""

_HOME = "the dataset's tables are variables: {table}, tables['{table}']"
_NO_FILES = "results are given out with show_table(…), show_plot(…) or print(…)"

ADVICE: dict[str, str] = {
    "pandas.ExcelWriter": "show_table(frame) gives a result out; people can save it from there",
    "pandas.eval": "use df.eval('c = a + b')",
    "pandas.read_sql": "call sql('select …'): it returns a DataFrame",
    "pandas.options": "write pd.set_option('display.max_rows', 20)",
    "pandas.plotting": "draw with px, go or alt and end with show(fig)",
    "pandas.io": "use pd itself: pd.DataFrame, pd.to_datetime, pd.json_normalize",
    "pandas.core": "use pd itself: pd.DataFrame, pd.Series",
    "pandas.testing": "compare with a.equals(b)",
    "polars.sql": "call sql('select … from t', t=frame): it returns a DataFrame",
    "polars.SQLContext": "call sql('select … from t', t=frame): it returns a DataFrame",
    "plotly.express.data": _HOME,
    "plotly.io": "end with show(fig)",
    "plotly.offline": "end with show(fig)",
    "json.load": "json.loads(text) reads a string",
    "json.dump": "json.dumps(value) gives a string",
    "random.SystemRandom": "use random.Random(1), which gives the same numbers each time",
    "string.Formatter": 'write an f-string: f"{value:.2f}"',
    "altair.data_transformers.enable": "leave it out: charts here have no row limit",
    "altair.renderers": "leave it out: end with show(chart)",
    "numpy.lib": "use np itself; for a moving window df['x'].rolling(7)",
    "numpy.testing": "compare with np.allclose(a, b)",
    "numpy.row_stack": "write np.vstack(…)",
    "numpy.bmat": "write np.block([[a, b], [c, d]])",
    **dict.fromkeys(
        ("functools.singledispatch", "functools.singledispatchmethod"),
        "write one function that looks: if isinstance(x, str): …",
    ),
    **dict.fromkeys(
        ("numpy.char.array", "numpy.char.asarray", "numpy.char.chararray"), "write np.array(…, dtype=str)"
    ),
    "altair.themes": "set colours on the chart: chart.configure_mark(color='teal')",
    "altair.theme": "set colours on the chart: chart.configure_mark(color='teal')",
}


def advice(module: str, member: str) -> str:
    """What to write instead of a member that may not be used."""
    if known := ADVICE.get(f"{module}.{member}"):
        return known
    if member.startswith(
        ("read_", "scan_", "load", "genfromtxt", "fromfile", "memmap", "fromregex", "Excel")
    ):
        return f"no file or address can be read here; {_HOME}"
    if member.startswith(("save", "write_", "sink_", "to_", "dump", "HDF")):
        return f"no file can be written here; {_NO_FILES}"
    near = get_close_matches(member, MEMBERS[module], n=1, cutoff=0.75)
    return (
        f"did you mean {near[0]}?"
        if near
        else f"use what {module} offers for analysis, without its inner parts"
    )
