"""DuckDB's functions, by theme: what may be called.

`tests/engines/duckdb/test_functions.py` fails when the engine has a function that is neither here nor in
`forbidden`, so an upgrade of the engine cannot widen the gate.
"""

from __future__ import annotations

from sandtable.engines.duckdb.dialect import OF_OTHER_DIALECTS, RENAMED
from sandtable.engines.duckdb.forbidden import REFUSED, REFUSED_PATTERN, REFUSED_PREFIXES
from sandtable.engines.rules import Functions

# Aggregates, by theme. They may be called plainly, with FILTER, and OVER a window.
_AGGREGATE_THEMES: dict[str, str] = {
    "Counting and totals": """
        count count_star count_if countif sum avg mean min max product fsum favg kahan_sum sumkahan
        sum_no_overflow wavg weighted_avg geomean geometric_mean approx_count_distinct bool_and bool_or
    """,
    "Choosing a value": """
        any_value arbitrary first last arg_max arg_max_null arg_max_nulls_last arg_min arg_min_null
        arg_min_nulls_last argmax argmin max_by min_by mode approx_top_k
    """,
    "Collecting values": """
        list array_agg string_agg group_concat listagg histogram histogram_exact bitstring_agg bit_and
        bit_or bit_xor json_group_array json_group_object json_group_structure variant_group_array
        variant_group_object
    """,
    "Spread, quantiles and shape": """
        median quantile quantile_cont quantile_disc approx_quantile reservoir_quantile mad stddev
        stddev_pop stddev_samp variance var_pop var_samp sem skewness kurtosis kurtosis_pop entropy lttb
    """,
    "Correlation and regression": """
        corr covar_pop covar_samp regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope
        regr_sxx regr_sxy regr_syy
    """,
}

# Functions that exist only OVER a window.
_WINDOW_THEME = """
    row_number rank dense_rank rank_dense percent_rank cume_dist ntile lag lead first_value last_value
    nth_value fill
"""

# Scalar functions, by theme: values in, value out, nothing else touched.
_SCALAR_THEMES: dict[str, str] = {
    "Operators": """
        != !__postfix !~~ !~~* % & && * ** + - -> ->> / // < <-> << <= <=> <@ = > >= >> @ @> ^ ^@ | || ~
        ~~ ~~* ~~~ xor add subtract multiply divide mod
    """,
    "Arithmetic": """
        abs acos acosh asin asinh atan atan2 atanh binom cbrt ceil ceiling cos cosh cot degrees even exp
        factorial fdiv floor fmod gamma gcd greatest_common_divisor isfinite isinf isnan lcm
        least_common_multiple lgamma ln log log10 log2 nextafter pi pow power radians round round_even
        roundbankers sign signbit sin sinh sqrt tan tanh trunc greatest least equi_width_bins
        is_histogram_other_bin bit_count bar decimal_division
    """,
    "Conditions": "if nullif coalesce ifnull switch constant_or_null grouping grouping_id",
    "Text": """
        array_to_string array_to_string_comma_default ascii base64 bin bit_length char_length
        character_length chr concat concat_ws contains damerau_levenshtein decode editdist3 encode
        ends_with format format_bytes formatReadableDecimalSize formatReadableSize from_base64
        from_binary from_hex hamming hex ilike_escape instr jaccard jaro_similarity
        jaro_winkler_similarity lcase left left_grapheme len length length_grapheme levenshtein
        like_escape lower lpad ltrim md5 md5_number md5_number_lower md5_number_upper mismatches
        nfc_normalize not_ilike_escape not_like_escape octet_length ord overlay parse_dirname
        parse_dirpath parse_filename parse_formatted_bytes parse_path path_join pg_size_pretty position
        prefix printf regexp_escape regexp_extract regexp_extract_all regexp_full_match regexp_matches
        regexp_replace regexp_split_to_array regexp_split_to_table repeat replace reverse right
        right_grapheme rpad rtrim sha1 sha256 split split_part starts_with str_split str_split_regex
        string_split string_split_regex string_to_array strip_accents strlen strpos substr substring
        substring_grapheme suffix to_base to_base64 to_binary to_hex translate trim ucase unbin unhex
        unicode upper url_decode url_encode
    """,
    "Dates and times": """
        age ago century date_add date_diff date_part date_sub date_trunc datediff datepart datesub
        datetrunc day dayname dayofmonth dayofweek dayofyear days_in_month decade epoch epoch_ms epoch_ns
        epoch_us era hour isodow isoyear julian last_day make_date make_time make_timestamp
        make_timestamp_ms make_timestamp_ns make_timestamptz microsecond millennium millisecond minute
        month monthname nanosecond normalized_interval quarter second strftime strptime time_bucket
        timezone timezone_hour timezone_minute to_centuries to_days to_decades to_hours to_microseconds
        to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks
        to_years try_strptime week weekday weekofyear year yearweek
    """,
    "The clock and chance": """
        now today current_date current_time current_timestamp current_localtime current_localtimestamp
        get_current_time get_current_timestamp transaction_timestamp random uuid gen_random_uuid uuidv4
        uuidv7
    """,
    "Lists and arrays": """
        aggregate apply array_aggr array_aggregate array_append array_apply array_cat array_concat
        array_contains array_cosine_distance array_cosine_similarity array_cross_product array_distance
        array_distinct array_dot_product array_extract array_filter array_grade_up array_has
        array_has_all array_has_any array_indexof array_inner_product array_intersect array_length
        array_negative_dot_product array_negative_inner_product array_pop_back array_pop_front
        array_position array_prepend array_push_back array_push_front array_reduce array_resize
        array_reverse array_reverse_sort array_select array_slice array_sort array_transform
        array_unique array_value array_where array_zip element_at filter flatten generate_series
        generate_subscripts grade_up invoke list_aggr list_aggregate list_any_value list_append
        list_apply list_approx_count_distinct list_avg list_bit_and list_bit_or list_bit_xor
        list_bool_and list_bool_or list_cat list_concat list_contains list_cosine_distance
        list_cosine_similarity list_count list_distance list_distinct list_dot_product list_element
        list_entropy list_extract list_filter list_first list_grade_up list_has list_has_all
        list_has_any list_histogram list_indexof list_inner_product list_intersect list_kurtosis
        list_kurtosis_pop list_last list_mad list_max list_median list_min list_mode
        list_negative_dot_product list_negative_inner_product list_pack list_position list_prepend
        list_product list_reduce list_resize list_reverse list_reverse_sort list_select list_sem
        list_skewness list_slice list_sort list_stddev_pop list_stddev_samp list_string_agg list_sum
        list_transform list_unique list_value list_var_pop list_var_samp list_where list_zip range
        reduce unnest
    """,
    "Structs, maps and unions": """
        cardinality map map_concat map_contains map_contains_entry map_contains_value map_entries
        map_extract map_extract_value map_from_entries map_keys map_values row struct_concat
        struct_contains struct_extract struct_extract_at struct_has struct_indexof struct_insert
        struct_keys struct_pack struct_position struct_update struct_values union_extract union_tag
        union_value
    """,
    "JSON and variants": """
        array_to_json from_json from_json_strict json json_array json_array_length json_contains
        json_deep_merge json_exists json_extract json_extract_path json_extract_path_text
        json_extract_string json_insert json_keys json_merge_patch json_merge_patch_diff json_normalize
        json_object json_pretty json_quote json_remove json_replace json_set json_strip_nulls
        json_structure json_transform json_transform_strict json_type json_valid json_value row_to_json
        to_json variant_array_length variant_contains variant_exists variant_extract
        variant_extract_string variant_keys variant_type variant_typeof
    """,
    "Types, bits and hashes": """
        alias bit_position bitstring enum_code enum_first enum_last enum_range enum_range_boundary
        get_bit hash pg_typeof set_bit typeof uuid_extract_timestamp uuid_extract_version
    """,
    "Geometry": """
        st_asbinary st_asgeojson st_astext st_aswkb st_aswkt st_crs st_geomfromgeojson st_geomfromwkb
        st_intersects_extent st_setcrs vertex_extract
    """,
}

# Table functions in FROM. Everything else that may stand there reads something.
_TABLE_THEME = "range generate_series unnest json_each json_tree"


def _names(block: str) -> frozenset[str]:
    return frozenset(name.lower() for name in block.split())


_COLLECTORS = _names(
    """
    list array_agg string_agg group_concat listagg json_group_array json_group_object
    variant_group_array variant_group_object
    """
)

FUNCTIONS = Functions(
    aggregates=_names(" ".join(_AGGREGATE_THEMES.values())),
    window_only=_names(_WINDOW_THEME),
    scalars=_names(" ".join(_SCALAR_THEMES.values())),
    table_functions=_names(_TABLE_THEME),
    refused=REFUSED,
    refused_prefixes=REFUSED_PREFIXES,
    refused_pattern=REFUSED_PATTERN,
    of_other_dialects=OF_OTHER_DIALECTS,
    renamed=RENAMED,
    collectors=_COLLECTORS,
    row_collectors=_COLLECTORS | _names("histogram histogram_exact approx_top_k mode"),
    collectors_of_n={
        **dict.fromkeys(("min", "max"), 2),
        **dict.fromkeys(("arg_min", "arg_max", "argmin", "argmax", "min_by", "max_by"), 3),
    },
    elements=_names("array_extract list_extract list_element element_at"),
    slices=_names("array_slice list_slice"),
    keep_argument=_names(
        """
        any_value arbitrary arg_max arg_min avg first last max max_by mean median min min_by mode quantile
        quantile_cont quantile_disc first_value last_value nth_value
        """
    ),
)

THEMES: dict[str, tuple[str, ...]] = {
    **{theme: tuple(sorted(_names(block))) for theme, block in _AGGREGATE_THEMES.items()},
    "Only over a window": tuple(sorted(FUNCTIONS.window_only)),
    **{theme: tuple(sorted(_names(block))) for theme, block in _SCALAR_THEMES.items()},
    "Table functions, in FROM": tuple(sorted(FUNCTIONS.table_functions)),
}
"""For the documentation."""
