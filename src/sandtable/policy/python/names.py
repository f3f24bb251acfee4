"""Names that code has without an import: modules, functions, builtins; and names that are absent, with advice.

Data only. The runner's namespace holds the same modules and functions: a test compares the two.
"""

from __future__ import annotations

MODULES: dict[str, str] = {
    "pd": "pandas",
    "pandas": "pandas",
    "np": "numpy",
    "numpy": "numpy",
    "pl": "polars",
    "polars": "polars",
    "px": "plotly.express",
    "go": "plotly.graph_objects",
    "alt": "altair",
    "math": "math",
    "statistics": "statistics",
    "random": "random",
    "re": "re",
    "json": "json",
    "datetime": "datetime",
    "collections": "collections",
    "itertools": "itertools",
    "functools": "functools",
    "operator": "operator",
    "decimal": "decimal",
    "fractions": "fractions",
    "string": "string",
    "textwrap": "textwrap",
    "scipy": "scipy",
}
"""Names of modules that are available without an import."""

IMPORTABLE: frozenset[str] = frozenset(
    """
    pandas numpy polars plotly plotly.express plotly.graph_objects plotly.subplots altair scipy scipy.stats
    scipy.optimize scipy.interpolate math statistics random re json datetime collections collections.abc
    itertools functools operator decimal fractions string textwrap bisect calendar copy dataclasses enum heapq
    typing warnings __future__
    """.split()
)

FUNCTIONS: frozenset[str] = frozenset(
    "sql show display show_table show_plot show_html show_mermaid show_markdown".split()
)

CONNECTION = "con"
"""The locked engine of the sandbox. Like a module it is used with a dot only."""

TABLES = "tables"
"""The mapping of table name to frame."""

ONLY_TABLE = "df"
"""The frame of a dataset that has one table."""

BUILTINS: frozenset[str] = frozenset(
    """
    abs all any ascii bin bool bytearray bytes callable chr classmethod complex dict divmod enumerate filter
    float format frozenset getattr hasattr hash hex id int isinstance issubclass iter len list map max min
    next object oct ord pow print property range repr reversed round set slice sorted staticmethod str sum
    super tuple type zip NotImplemented Ellipsis
    """.split()
)
"""Exceptions are allowed besides, by their ending."""

ONLY_CALLED: frozenset[str] = frozenset({"getattr", "super"})
"""Builtins that may only be called directly: their arguments are checked at the call."""

FORBIDDEN_BUILTINS: dict[str, str] = {
    "open": "there are no files here: the dataset's tables are variables, and show_table(…) gives a result out",
    "eval": "write the expression itself",
    "exec": "write the statements themselves",
    "compile": "write the statements themselves, or re.compile(…) for a pattern",
    "__import__": "the libraries are already here by name: pd, np, pl, px, go, alt",
    "input": "code cannot ask for input while it runs: write the value into the code",
    "breakpoint": "print(…) what you want to see",
    "exit": "leave it out: the code ends by itself",
    "quit": "leave it out: the code ends by itself",
    "help": "print(…) what you want to see",
    "copyright": "leave it out",
    "credits": "leave it out",
    "license": "leave it out",
    "globals": "use the variables by their names",
    "locals": "use the variables by their names",
    "vars": "use the attributes by their names, or keep the values in a dict",
    "dir": "print(df.columns) tells the columns of a frame",
    "setattr": "write obj.name = value, or keep the values in a dict",
    "delattr": "keep the values in a dict",
    "memoryview": "use bytes or a NumPy array",
    "aiter": "write plain loops: nothing here waits",
    "anext": "write plain loops: nothing here waits",
}

_PLOTTING = "draw with px, go or alt and end with show(fig)"
_FILES = "there are no files here: the dataset's tables are variables, and show_table(…) gives a result out"
_NETWORK = "there is no network here: work with the dataset's tables"
_PROCESSES = "no program can be started here: write the step in Python or with sql(…)"
_TYPES = "leave the import out: annotations such as list[int] and plain classes need none"

ABSENT: dict[str, str] = {
    **dict.fromkeys(("matplotlib", "plt", "seaborn", "sns", "bokeh", "plotnine", "pygal"), _PLOTTING),
    **dict.fromkeys(
        (
            "os",
            "io",
            "pathlib",
            "shutil",
            "glob",
            "tempfile",
            "fileinput",
            "zipfile",
            "tarfile",
            "gzip",
            "csv",
        ),
        _FILES,
    ),
    **dict.fromkeys(
        ("openpyxl", "pyarrow", "sqlite3", "pickle", "shelve", "joblib", "dbm", "marshal"), _FILES
    ),
    **dict.fromkeys(
        ("requests", "urllib", "urllib3", "httpx", "aiohttp", "socket", "http", "ftplib", "smtplib", "ssl"),
        _NETWORK,
    ),
    **dict.fromkeys(
        ("subprocess", "multiprocessing", "threading", "concurrent", "asyncio", "signal", "pty", "sched"),
        _PROCESSES,
    ),
    **dict.fromkeys(
        (
            "sys",
            "builtins",
            "importlib",
            "inspect",
            "ctypes",
            "gc",
            "types",
            "code",
            "ast",
            "runpy",
            "pkgutil",
        ),
        "the interpreter itself cannot be reached: leave it out",
    ),
    "abc": _TYPES,
    "duckdb": "call sql('select …'): it returns a DataFrame",
    "time": "leave it out: a result must not depend on the clock",
    "uuid": "number the rows instead: range(len(df))",
    "secrets": "use random, which gives the same numbers each time",
    "sklearn": "use np.polyfit, scipy.stats or scipy.optimize",
    "statsmodels": "use scipy.stats or np.polyfit",
    "IPython": "end with the value, or call show(value)",
}
"""Modules that people commonly try to import, and what to do instead."""

NEVER_VARIABLES: frozenset[str] = frozenset(
    "os sys subprocess socket shutil pathlib plt sns requests duckdb importlib builtins ctypes pickle".split()
)
"""Names from `ABSENT` that are refused wherever the code has not given them a meaning of its own."""
