"""Attributes: an allow list for members of modules, and for other objects the words that lead out.

The type of an object is not known from the text. So a word that is dangerous on some object is refused
on all, except where it is certainly the text's own class, or where the call leaves out the path.
"""

from __future__ import annotations

from sandtable.policy.python.code import Code, Finding
from sandtable.policy.python.members import MEMBERS, advice
from sandtable.policy.python.spots import Spot, call_arguments
from sandtable.policy.tree import listed, under

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
    to_csv to_json to_html to_markdown to_latex to_string to_xml to_parquet write_csv write_json write_ndjson
    """.split()
)
"""Without a path these give the text back: honest work. With one they write a file."""

WRITERS: frozenset[str] = frozenset(
    """
    to_pickle to_hdf to_feather to_excel to_sql to_gbq to_stata to_clipboard to_orc to_iceberg to_file to_image
    to_url to_table write_html write_image write_images write_excel write_parquet write_ipc write_ipc_stream
    write_avro write_clipboard write_database write_delta write_iceberg write_text write_bytes write_table
    sink_csv sink_parquet sink_ipc sink_ndjson sink_batches sink_delta sink_iceberg tofile savetxt savez
    savez_compressed save_to_file open_editor serve full_figure_for_development insert_into
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

_RECKONING = ("Attribute", "Subscript", "BinOp", "UnaryOp", "Compare")
_NAMED_TUPLE = frozenset({"_replace", "_asdict", "_fields", "_make"})
_NO_FILES = "give results out with show_table(frame), show(fig) or print(text); there are no files here"
_TABLES = "the dataset's tables are variables already: {table}, tables['{table}']"
_PATHS = frozenset(
    {"path_or_buf", "path", "buf", "file", "path_or_buffer", "filename", "fname", "output_file"}
)


def attribute_finding(spot: Spot, code: Code) -> Finding | None:
    if spot.kind != "Attribute":
        return None
    if modules := code.modules(spot, under(spot.node, "value")):
        return _member_finding(spot, modules)
    return _object_finding(spot, code)


def _member_finding(spot: Spot, modules: frozenset[str]) -> Finding | None:
    attribute = spot.text_of("attr")
    for module in sorted(modules):
        full = f"{module}.{attribute}"
        if spot.node.get("ctx") != "Load":
            hint = "keep the value in a variable of your own"
            return Finding(spot, full, f"The module {module} cannot be changed.", hint, attribute)
        if full in MEMBERS:
            if spot.parent is None or spot.parent.kind != "Attribute" or spot.field != "value":
                return bare_module(spot, full, attribute)
        elif attribute not in MEMBERS[module]:
            message = f"`{full}` may not be used."
            return Finding(spot, full, message, advice(module, attribute), attribute)
    return None


def bare_module(spot: Spot, module: str, word: str) -> Finding:
    return Finding(
        spot,
        word,
        f"`{word}` ({module}) may only be used with a dot after it, not handed on.",
        f"write what you need of it in place: {word}.…; give a variable of your own another name",
        word,
    )


def _object_finding(spot: Spot, code: Code) -> Finding | None:
    attribute, value = spot.text_of("attr"), under(spot.node, "value")
    if attribute.startswith("_"):
        return _private_finding(spot, code)
    if attribute in PATH_OPTIONAL:
        return None if _without_path(spot) else _path_finding(spot, attribute)
    if attribute in ONLY_ON_OWN:
        # What is reckoned with, not called and not handed on, is a column.
        is_column = spot.field in ("value", "left", "right", "operand", "comparators") and (
            spot.parent is not None and spot.parent.kind in _RECKONING and attribute not in ("plot", "sql")
        )
        is_own = attribute in code.attributes and code.is_own_object(spot, value)
        if is_column or is_own or spot.node.get("ctx") == "Store":
            return None
        return Finding(
            spot, attribute, f"`.{attribute}` may not be used here.", ONLY_ON_OWN[attribute], attribute
        )
    reason = forbidden_word(attribute, code)
    if reason is None or (attribute in code.attributes and code.is_own_object(spot, value)):
        return None
    return Finding(spot, attribute, f"`.{attribute}` may not be used: {reason}", _hint(attribute), attribute)


def _private_finding(spot: Spot, code: Code) -> Finding | None:
    attribute, value = spot.text_of("attr"), under(spot.node, "value")
    is_special = attribute.startswith("__") and attribute.endswith("__")
    if attribute == "__name__" and spot.node.get("ctx") == "Load":
        return None
    if attribute == "__init__" and under(value, "func").get("id") == "super":
        return None
    if attribute in _NAMED_TUPLE or (attribute == "__class__" and _is_for_its_name(spot)):
        return None
    if not is_special and attribute in code.attributes and code.is_own_object(spot, value):
        return None
    what = "of the interpreter" if is_special else "private to another class"
    return Finding(
        spot, attribute, f"`.{attribute}` is {what} and may not be used.", _hint(attribute), attribute
    )


def _is_for_its_name(spot: Spot) -> bool:
    """`x.__class__.__name__` is a text."""
    return spot.field == "value" and spot.parent is not None and spot.parent.text_of("attr") == "__name__"


def _without_path(spot: Spot) -> bool:
    if not spot.is_called or spot.parent is None:
        return False
    positional, named, hidden = call_arguments(spot.parent.node)
    given = {k for k, v in named.items() if not (v.get("_") == "Constant" and v.get("kind") == "none")}
    return not positional and not hidden and not given & _PATHS


def _path_finding(spot: Spot, attribute: str) -> Finding:
    return Finding(
        spot,
        attribute,
        f"`.{attribute}` may only be called without a path: there are no files here.",
        f"write text = df.{attribute}() and print(text), or show_table(df)",
        attribute,
    )


def forbidden_word(word: str, code: Code) -> str | None:
    """Why an attribute of this name may not be read from an object of an unknown kind; None when it may."""
    if word.startswith("_") and word not in _NAMED_TUPLE and word != "__name__":
        return "it belongs to the inside of an object."
    if word in INTERPRETER:
        return "it leads to the interpreter."
    if word in INNER_MODULES and word not in code.columns:
        return "it leads to a module."
    if word in WRITERS:
        return "it writes to a file or elsewhere."
    if word in READERS:
        return "it reads from a file or elsewhere."
    return None


def forbidden_method(word: str, code: Code) -> str | None:
    """The same for a method that is named by a string: nobody sees how it is called."""
    if word in PATH_OPTIONAL:
        return "it can write a file."
    if word in ONLY_ON_OWN or word in ("eval", "query", "format", "format_map"):
        return "it may not be called by its name as text."
    return forbidden_word(word, code)


def _hint(attribute: str) -> str:
    if attribute in WRITERS:
        return "end with show(fig)" if "image" in attribute or "html" in attribute else _NO_FILES
    if attribute in READERS:
        return _TABLES
    if attribute == "__class__":
        return "write type(x).__name__ for the name of a type"
    if attribute in INNER_MODULES:
        return f"write df['{attribute}'] if it is a column; the libraries are here as pd, np, pl, px, go, alt"
    return "use public methods and attributes only"


DANGEROUS_STRINGS: frozenset[str] = (
    WRITERS
    | READERS
    | PATH_OPTIONAL
    | frozenset(
        """
        __builtins__ __globals__ __class__ __subclasses__ __import__ __dict__ __mro__ __bases__ __base__
        __getattribute__ __code__ __closure__ __loader__ __spec__ __reduce__ __init_subclass__ __self__
        __traceback__ __wrapped__ __func__ __subclasshook__ __match_args__
        """.split()
    )
)
"""Texts that are good for nothing but calling something by its name."""


def string_finding(spot: Spot, code: Code) -> Finding | None:
    if spot.kind != "Constant" or spot.node.get("kind") != "str":
        return None
    value = spot.node.get("value")
    if value not in DANGEROUS_STRINGS or (value in code.columns) or _is_pattern_key(spot):
        return None
    return Finding(
        spot,
        str(value),
        f"The text {value!r} names something that may not be called.",
        _hint(str(value)),
    )


def _is_pattern_key(spot: Spot) -> bool:
    """Plain comparison, as in `if kind == "to_csv"`, calls nothing."""
    return spot.parent is not None and spot.parent.kind == "Compare" and bool(listed(spot.parent.node, "ops"))
