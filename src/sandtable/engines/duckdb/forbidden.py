"""Functions of DuckDB that are refused on purpose, and why.

This list decides only the wording of a refusal. A function that is missing here and in the allow list is refused
all the same.
"""

from __future__ import annotations

import re

from sandtable.engines.rules import Refusal

_USE_TABLES = "Query the dataset's own tables by name; they are already loaded"
_NO_NEED = "Leave it out: no answer about the data needs it"

_OPERATOR = Refusal("it is spelled as an operator", "Use the operator itself")

_FAMILIES: dict[str, tuple[Refusal, str]] = {
    "files": (
        Refusal("it reads files", _USE_TABLES),
        """
        glob sniff_csv seq_scan arrow_scan arrow_scan_dumb pandas_scan python_arrow_scan
        python_map_function hive_partition_component
        """,
    ),
    "evaluators": (
        Refusal("it runs or binds SQL that is hidden in a string", "Write the query itself"),
        """
        query query_table json_execute_serialized_sql json_serialize_sql json_deserialize_sql
        json_serialize_plan histogram_values
        """,
    ),
    "settings": (
        Refusal("it reads the settings, secrets or environment of the engine", _NO_NEED),
        """
        getenv getvariable current_setting which_secret add_parquet_key current_database current_catalog
        current_schema current_schemas current_query current_query_id current_connection_id
        current_transaction_id current_role current_user session_user user in_search_path txid_current
        version get_block_size icu_calendar_names format_type format_pg_type map_to_pg_oid
        col_description obj_description shobj_description
        """,
    ),
    "state": (
        Refusal("it changes the state of the session", _NO_NEED),
        """
        nextval currval setval setseed write_log checkpoint force_checkpoint enable_logging
        disable_logging enable_profiling disable_profiling truncate_duckdb_logs create_external_resource
        deregister_external_resource destroy_external_resource register_external_resource
        register_external_resource_type
        """,
    ),
    "time wasting": (Refusal("it only waits", _NO_NEED), "sleep_ms"),
    "errors": (
        Refusal("it raises an error on purpose", "Filter the rows with WHERE instead"),
        "error assert_true",
    ),
    "internals": (
        Refusal("it is an internal function of the engine", _NO_NEED),
        """
        can_cast_implicitly cast_to_type combine combine_aggr create_sort_key decimal_average finalize
        get_type icu_sort_key index_key json_copy_strftime_if_date json_copy_strftime_if_timestamp
        make_type parse_duckdb_log_message remap_struct replace_type stats to_aggregate_state
        timetz_byte_comparable bitstring_byte_comparable unpivot_list variant_bytes_to_variant
        variant_comparator variant_normalize variant_to_parquet_variant vector_type summary repeat_row
        """,
    ),
    "pragmas": (
        Refusal("it is a PRAGMA", _NO_NEED),
        """
        collations copy_database database_list database_size disable_checkpoint_on_shutdown
        disable_object_cache disable_optimizer disable_print_progress_bar disable_profile
        disable_progress_bar disable_verification disable_verify_parallelism
        enable_checkpoint_on_shutdown enable_object_cache enable_optimizer enable_print_progress_bar
        enable_profile enable_progress_bar enable_verification extension_versions functions
        import_database metadata_info platform show show_databases show_tables show_tables_expanded
        storage_info table_info user_agent verify_parallelism
        """,
    ),
}

REFUSED: dict[str, Refusal] = {
    name: refusal for refusal, block in _FAMILIES.values() for name in block.split()
}

REFUSED_PREFIXES: dict[str, Refusal] = {
    "__": _FAMILIES["internals"][0],
    "read_": _FAMILIES["files"][0],
    "parquet_": _FAMILIES["files"][0],
    "duckdb_": _FAMILIES["settings"][0],
    "pragma_": _FAMILIES["settings"][0],
    "pg_": _FAMILIES["settings"][0],
    "has_": _FAMILIES["settings"][0],
    "inet_": _FAMILIES["settings"][0],
    "collate_": Refusal("it is an internal function of the engine", "Use the COLLATE operator"),
    "icu_collate_": Refusal("it is an internal function of the engine", "Use the COLLATE operator"),
    "test_": _FAMILIES["internals"][0],
    "is distinct": _OPERATOR,
    "is not distinct": _OPERATOR,
}

REFUSED_PATTERN = (
    re.compile(
        r"(scan|attach|_query|_execute|_connect|metadata|snapshots|secret)$"
        r"|^(load|http|st_read|write|copy|sql_|iceberg|delta|sqlite|postgres|mysql|shellfs|install)"
    ),
    _FAMILIES["files"][0],
)
"""Functions of extensions that are not loaded: named so that the refusal says why."""
