"""The libraries that code can use, loaded once in the template.

Invariant: after the seal no file can be read, so every module that code may import is in memory by then; and nothing
here leaves a thread running that a fork would interrupt.
"""

from __future__ import annotations
import __future__

import bisect
import calendar
import collections
import collections.abc
import copy
import dataclasses
import datetime
import decimal
import encodings
import enum
import fractions
import functools
import heapq
import itertools
import json
import math
import operator
import random
import re
import statistics
import string
import sys
import textwrap
import typing
import warnings
from types import ModuleType

import altair
import jinja2
import narwhals
import numpy
import pandas
import pandas.io.formats.style
import plotly
import plotly.express
import plotly.graph_objects
import plotly.io
import plotly.subplots
import polars
import pyarrow
import pyarrow.acero
import pyarrow.compute
import scipy
import scipy.interpolate
import scipy.optimize
import scipy.stats

MINOR = (__future__, bisect, calendar, copy, dataclasses, enum, heapq, typing, warnings)
"""Modules that code may import, but that have no preset name."""

MODULES: dict[str, ModuleType] = {
    "pd": pandas,
    "pandas": pandas,
    "np": numpy,
    "numpy": numpy,
    "pl": polars,
    "polars": polars,
    "px": plotly.express,
    "go": plotly.graph_objects,
    "alt": altair,
    "math": math,
    "statistics": statistics,
    "random": random,
    "re": re,
    "json": json,
    "datetime": datetime,
    "collections": collections,
    "itertools": itertools,
    "functools": functools,
    "operator": operator,
    "decimal": decimal,
    "fractions": fractions,
    "string": string,
    "textwrap": textwrap,
    "scipy": scipy,
}
"""Names that are defined without an import."""

IMPORTABLE: frozenset[str] = frozenset(
    """
    pandas numpy polars plotly plotly.express plotly.graph_objects plotly.subplots altair scipy scipy.stats
    scipy.optimize scipy.interpolate math statistics random re json datetime collections collections.abc
    itertools functools operator decimal fractions string textwrap bisect calendar copy dataclasses enum heapq
    typing warnings __future__
    """.split()
)

PACKAGES = [
    module.__name__
    for module in (altair, encodings, jinja2, narwhals, numpy, pandas, plotly, polars, pyarrow, scipy)
]
"""Packages whose remaining modules are kept in memory, because they are loaded on first use."""


def versions() -> str:
    """Versions that the results depend on, for the capsule."""
    named = (pandas, numpy, polars, plotly, altair, pyarrow, scipy)
    return ", ".join([f"python {sys.version.split()[0]}", *(f"{m.__name__} {m.__version__}" for m in named)])


def settle() -> None:
    """Configures the libraries: wide text, and Plotly figures where pandas would need a window system."""
    pandas.set_option("display.width", 120)
    pandas.set_option("display.max_columns", 20)
    pandas.set_option("plotting.backend", "plotly")
    plotly.io.renderers.default = "json"
    altair.data_transformers.disable_max_rows()
    polars.Config.set_tbl_width_chars(120)
