"""Attribute names that give access to files, modules, the interpreter, or to code that is written as a text.

Data, and the two functions by which rules query it.
"""

from __future__ import annotations

import re
from collections.abc import Collection

INTERPRETER: frozenset[str] = frozenset(
    """
    gi_frame gi_code gi_yieldfrom gi_running gi_suspended cr_frame cr_code cr_await cr_origin cr_running
    ag_frame ag_code ag_await ag_running f_back f_builtins f_code f_globals f_locals f_lasti f_lineno f_trace
    tb_frame tb_next tb_lasti tb_lineno co_code co_consts co_names co_varnames co_filename func_globals
    func_code func_closure im_func im_self im_class mro obj
    """.split()
)
"""Frames, code, tracebacks, the object that an AttributeError holds."""

INNER_MODULES: frozenset[str] = frozenset(
    """
    os sys io core lib libs testing ctypeslib ctypes f2py compat util builtins subprocess importlib inspect
    threading socket urllib pathlib shutil pickle gc sre_compile sre_parse sre_constants copyreg
    decoder encoder scanner plotting distutils linecache traceback contextlib weakref multiprocessing
    asyncio tempfile zipfile gzip posix stride_tricks as_strided npyio format_parser
    mtrand bit_generator offline kaleido plugins figure_factory vegalite
    """.split()
)
"""Modules that libraries hold as attributes. A column of such a name is read as `df['os']`."""

PATH_OPTIONAL: frozenset[str] = frozenset(
    """
    to_csv to_json to_html to_markdown to_latex to_string to_typst to_xml to_parquet write_csv write_json write_ndjson
    """.split()
)
"""Without a path these return the text, which is allowed. With one they write a file."""

WRITERS: frozenset[str] = frozenset(
    """
    to_pickle to_hdf to_feather to_excel to_sql to_gbq to_stata to_clipboard to_orc to_iceberg to_file to_image
    to_url to_table write_html write_image write_images write_excel write_parquet write_ipc write_ipc_stream
    write_avro write_clipboard write_database write_delta write_iceberg write_text write_bytes write_table
    sink_csv sink_parquet sink_ipc sink_ndjson sink_batches sink_delta sink_iceberg tofile savetxt savez
    savez_compressed save_to_file open_editor serve show_graph full_figure_for_development insert_into
    """.split()
)

READERS: frozenset[str] = frozenset(
    """
    read_csv read_table read_json read_parquet read_excel read_html read_xml read_pickle read_sql read_sql_query
    read_sql_table read_hdf read_feather read_orc read_fwf read_clipboard read_stata read_sas read_spss read_gbq
    read_ipc read_ipc_stream read_ipc_schema read_ndjson read_avro read_database read_database_uri read_delta
    read_ods read_text read_bytes read_lines read_iceberg scan_csv scan_parquet scan_ipc scan_ndjson scan_delta
    scan_iceberg scan_lance scan_lines scan_arrow_c_stream scan_external_reader read_parquet_schema
    read_parquet_metadata scan_pyarrow_dataset fromfile memmap loadtxt genfromtxt fromregex load_from_file
    from_parquet from_csv_auto from_query urlopen urlretrieve deserialize load_extension install_extension
    load_library LoadLibrary cdll pythonapi register_plugin register_plugin_function
    """.split()
)

ONLY_ON_OWN: dict[str, str] = {
    "save": "give results out with show(chart), show_table(frame) or print(text)",
    "load": "the dataset's tables are variables already",
    "show": "write show(fig)",
    "dump": "json.dumps(value) gives a string",
    "dumps": "json.dumps(value) gives a string",
    "loads": "json.loads(text) reads a string",
    "sql": "call sql('select … from t', t=frame): it returns a DataFrame",
    "plot": "draw with Plotly: px.line(df, x='…', y='…'), px.bar(…), px.histogram(…)",
    "system": "no program can be started here",
    "popen": "no program can be started here",
    "serialize": "use to_dict() or to_json()",
}
"""Words that are fine as methods of a class that the text itself defines."""

TEMPLATES: frozenset[str] = frozenset(
    """
    env loader from_custom_template from_string get_template select_template get_or_select_template
    compile_expression compile_templates template_dir template_html template_html_table template_html_style
    template_latex template_typst template_string
    """.split()
)
"""What leads to the template engine behind `df.style`: its templates are programs."""

BY_NAME: dict[str, tuple[int, str]] = {
    "agg": (0, "func"),
    "aggregate": (0, "func"),
    "apply": (0, "func"),
    "transform": (0, "func"),
    "filter": (0, "func"),
    "pivot_table": (3, "aggfunc"),
}
"""Methods that may be given the name of another method and its arguments; at which place, and as which keyword."""

TEXT_METHODS: frozenset[str] = frozenset({"eval", "query", "format", "format_map"})
"""Methods that interpret a text."""

PLAIN_SPECIAL: frozenset[str] = frozenset({"__name__", "__doc__", "__qualname__", "__module__"})
"""Special attributes that are texts."""

NAMED_TUPLE: frozenset[str] = frozenset({"_replace", "_asdict", "_fields", "_make"})
_PLACE_IN_ROW = re.compile(r"_\d+")
"""What `itertuples` calls a column whose name is no identifier."""

METHODS: frozenset[str] = frozenset(
    """
    __init__ __post_init__ __repr__ __str__ __format__ __bytes__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__
    __bool__ __len__ __length_hint__ __iter__ __next__ __reversed__ __contains__ __getitem__ __setitem__
    __delitem__ __missing__ __call__ __enter__ __exit__ __copy__ __deepcopy__
    __add__ __radd__ __iadd__ __sub__ __rsub__ __isub__ __mul__ __rmul__ __imul__ __matmul__ __rmatmul__
    __truediv__ __rtruediv__ __itruediv__ __floordiv__ __rfloordiv__ __mod__ __rmod__ __divmod__ __rdivmod__
    __pow__ __rpow__ __neg__ __pos__ __abs__ __int__ __float__ __complex__ __index__ __round__ __trunc__ __floor__
    __ceil__ __and__ __rand__ __or__ __ror__ __xor__ __rxor__ __lshift__ __rshift__ __invert__
    """.split()
)
"""Special methods that a class may define."""


def is_private(word: str) -> bool:
    """Whether an attribute of this name belongs to the inside of an object."""
    return word.startswith("_") and not (
        word in NAMED_TUPLE or word in PLAIN_SPECIAL or _PLACE_IN_ROW.fullmatch(word)
    )


def forbidden_word(word: str, columns: Collection[str]) -> str | None:
    """Why an attribute of this name may not be read from an object of an unknown kind; None when it may.

    `columns`: those of the dataset, which may have the name of a module.
    """
    if is_private(word):
        return "it belongs to the inside of an object."
    if word in INTERPRETER and word not in columns:
        return "it leads to the interpreter."
    if word in INNER_MODULES and word not in columns:
        return "it leads to a module."
    if word in TEMPLATES and word not in columns:
        return "it leads to templates, which are programs."
    if word in WRITERS:
        return "it writes to a file or elsewhere."
    if word in READERS:
        return "it reads from a file or elsewhere."
    return None


def forbidden_method(word: str, columns: Collection[str]) -> str | None:
    """The same for a method that is named by a text: how it is called is not seen."""
    if word in PATH_OPTIONAL:
        return "it can write a file."
    if word in ONLY_ON_OWN or word in TEXT_METHODS or word in BY_NAME:
        return "it may not be called by its name as text."
    return forbidden_word(word, columns)
