// A simple metric: one aggregate, or one divided by another.
import { Plus } from "lucide-react";
import { useState } from "react";
import type { Dataset, MetricSemantics, Table } from "~/api/model";
import { catalogColumn, isNumeric } from "~/format";
import { Button } from "~/ui";
import { FORMATS } from "../metrics";
import { ChoiceField, TextField } from "./fields";

const AGGREGATES = [
  ["sum", "sum of"],
  ["avg", "average of"],
  ["median", "median of"],
  ["min", "lowest"],
  ["max", "highest"],
  ["count_distinct", "number of different values of"],
  ["count", "number of rows"],
] as const;

const OF_NUMBERS: readonly string[] = ["sum", "avg", "median"];

interface Aggregate {
  agg: string;
  column: string;
}

interface NewMetricProps {
  dataset: Dataset;
  taken: readonly string[];
  onAdd: (name: string, metric: MetricSemantics) => void;
}

export function NewMetric({ dataset, taken, onAdd }: NewMetricProps) {
  const [open, setOpen] = useState(false);
  if (open) return <Form dataset={dataset} taken={taken} onAdd={onAdd} onClose={() => setOpen(false)} />;
  return (
    <Button onClick={() => setOpen(true)}>
      <Plus aria-hidden />
      Add a metric
    </Button>
  );
}

function Form({ dataset, taken, onAdd, onClose }: NewMetricProps & { onClose: () => void }) {
  const [name, setName] = useState("");
  const [tableName, setTableName] = useState(dataset.tables[0]?.name ?? "");
  const [above, setAbove] = useState<Aggregate>({ agg: "sum", column: "" });
  const [below, setBelow] = useState<Aggregate>({ agg: "", column: "" });
  const [format, setFormat] = useState<MetricSemantics["format"]>("number");
  const table = dataset.tables.find((one) => one.name === tableName);
  const isTaken = taken.some((one) => one.toLowerCase() === name.trim().toLowerCase());
  const isWhole =
    name.trim() !== "" && !isTaken && isComplete(above) && (below.agg === "" || isComplete(below));
  const add = () => {
    onAdd(name.trim(), {
      table: tableName,
      description: "",
      synonyms: [],
      numerator: jsonOf(above),
      ...(below.agg ? { denominator: jsonOf(below) } : {}),
      format,
    });
    onClose();
  };
  return (
    <fieldset className="space-y-4 rounded-md border p-3">
      <legend className="px-1">A new metric</legend>
      <div className="grid gap-4 sm:grid-cols-3">
        <TextField
          title="Name"
          of="the metric"
          value={name}
          onChange={setName}
          hint={isTaken ? "There is a metric of this name." : "Such as average_price"}
        />
        <ChoiceField
          title="Table"
          of="the metric"
          value={tableName}
          onChange={(next) => {
            setTableName(next);
            setAbove({ ...above, column: "" });
            setBelow({ ...below, column: "" });
          }}
          choices={dataset.tables.map((one) => [one.name, one.name] as const)}
        />
        <ChoiceField
          title="Shown as"
          of="the metric"
          value={format}
          onChange={(next) => setFormat(next as MetricSemantics["format"])}
          choices={Object.entries(FORMATS)}
        />
      </div>
      <AggregateFields title="What is computed" table={table} value={above} onChange={setAbove} />
      <AggregateFields title="Divided by" table={table} value={below} onChange={setBelow} isOptional />
      <div className="flex gap-2">
        <Button disabled={!isWhole} onClick={add}>
          Add it
        </Button>
        <Button kind="quiet" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </fieldset>
  );
}

interface AggregateFieldsProps {
  title: string;
  table: Table | undefined;
  value: Aggregate;
  onChange: (value: Aggregate) => void;
  isOptional?: boolean;
}

function AggregateFields({ title, table, value, onChange, isOptional = false }: AggregateFieldsProps) {
  const columns = columnsFor(table, value.agg);
  const choose = (agg: string) =>
    onChange({ agg, column: columnsFor(table, agg).includes(value.column) ? value.column : "" });
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <ChoiceField
        title={title}
        of="the metric"
        value={value.agg}
        onChange={choose}
        choices={isOptional ? [["", "nothing"], ...AGGREGATES] : AGGREGATES}
      />
      {value.agg !== "" && value.agg !== "count" && (
        <ChoiceField
          title="Column"
          of={`“${title}”`}
          value={value.column}
          onChange={(column) => onChange({ ...value, column })}
          choices={[["", "Choose a column"], ...columns.map((column) => [column, column] as const)]}
        />
      )}
    </div>
  );
}

function columnsFor(table: Table | undefined, agg: string): string[] {
  const columns = table?.columns ?? [];
  const fitting = OF_NUMBERS.includes(agg)
    ? columns.filter((column) => isNumeric(catalogColumn(column)))
    : columns;
  return fitting.map((column) => column.name);
}

const isComplete = ({ agg, column }: Aggregate) => agg === "count" || column !== "";

const jsonOf = ({ agg, column }: Aggregate): Record<string, unknown> =>
  agg === "count" ? { agg } : { agg, column };
