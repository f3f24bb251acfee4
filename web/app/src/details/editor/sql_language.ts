// SQL as DuckDB speaks it, as far as the gate lets it through, with the dataset's names.
import { type Completion, type CompletionSource, completeFromList, ifNotIn } from "@codemirror/autocomplete";
import { SQLDialect, sql } from "@codemirror/lang-sql";
import { LanguageSupport } from "@codemirror/language";
import type { Names } from "./plan_words";

const KEYWORDS = `all and anti any as asc asof between by case cast columns cross cube current desc describe distinct
else end escape except exclude exists fetch filter first following for from full group grouping having ilike in inner
intersect interval into is join last lateral left like limit materialized natural not null nulls of offset on or order
outer over partition percent pivot positional preceding qualify range recursive replace right rollup row rows sample
select semi sets similar some struct summarize table tablesample then to trailing try_cast unbounded union unpivot using
values when where window with within`;

const TYPES = `array bigint bit blob boolean bool date decimal double enum float hugeint int integer json list map
numeric real smallint text time timestamp timestamptz tinyint ubigint uinteger union uuid varchar`;

const FUNCTIONS = `abs any_value arg_max arg_min array_agg avg ceil coalesce concat contains corr count count_if
date_diff date_part date_trunc day dayname dense_rank epoch extract first floor greatest hour ifnull lag last lead least
left length list ln log lower max median min mode month monthname now nullif ntile power quantile_cont quarter rank
regexp_extract regexp_matches regexp_replace replace right round row_number split_part sqrt starts_with stddev strftime
string_agg strptime substring sum trim upper variance week year`;

const words = (text: string) => text.replace(/\s+/g, " ");

export const duckdb = SQLDialect.define({
  keywords: words(`${KEYWORDS} true false`),
  types: words(TYPES),
  builtin: "",
  operatorChars: "*+-%<>!=&|~^/@",
  specialVar: "",
  identifierQuotes: '"',
  doubleDollarQuotedStrings: true,
  charSetCasts: false,
});

export function duckdbSql(names: Names): LanguageSupport {
  const schema = Object.fromEntries(
    names.tables.map((table) => [
      table.name,
      {
        self: { label: table.name, type: "class", detail: "table" },
        children: table.columns.map((column) => ({
          label: column.name,
          type: "property",
          detail: column.type,
        })),
      },
    ]),
  );
  const base = sql({ dialect: duckdb, schema, upperCaseKeywords: true });
  const more = duckdb.language.data.of({
    autocomplete: ifNotIn(["String", "LineComment"], bareWords(names)),
  });
  return new LanguageSupport(base.language, [base.support, more]);
}

/** Columns of every table and the common functions, where no table is in front. */
function bareWords(names: Names): CompletionSource {
  const columns = new Map<string, Completion>();
  for (const table of names.tables) {
    for (const column of table.columns) {
      columns.set(column.name, { label: column.name, type: "property", detail: column.type, boost: 1 });
    }
  }
  const functions = words(FUNCTIONS)
    .split(" ")
    .map((name) => ({ label: name, type: "function", apply: `${name}(` }));
  const list = completeFromList([...columns.values(), ...functions]);
  return (context) => (context.matchBefore(/\w*\.\w*/) ? null : list(context));
}
