// How the files of a dataset were read: the type of each column and why, what did not fit, and earlier versions.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { changeReading, readingQuery } from "~/api/imports";
import type { ColumnReading, Dataset, TableReading } from "~/api/model";
import { number, time } from "~/format";
import { follow } from "~/imports/transfers";
import { Button, ErrorNote, Select, SkeletonLines } from "~/ui";
import { shortDigest } from "./version";

export function ReadingView({ dataset }: { dataset: Dataset }) {
  const reading = useQuery(readingQuery(dataset.id));
  if (reading.isPending) return <SkeletonLines lines={6} label="Loading how the files were read" />;
  if (reading.error) return <ErrorNote error={reading.error} onRetry={() => reading.refetch()} />;
  return (
    <div className="space-y-6">
      {reading.data.tables.map((table) => (
        <TablePart key={table.table} datasetId={dataset.id} reading={table} />
      ))}
      <section>
        <h3 className="mb-2 font-medium">Versions</h3>
        <ul className="divide-y rounded-md border">
          {reading.data.versions.map((version) => (
            <li key={version.version} className="px-3 py-1.5">
              <span className="flex flex-wrap gap-x-4">
                <code className="font-mono text-[13px]">{shortDigest(version.version)}</code>
                <span className="text-ink-3">{time(version.at).text}</span>
              </span>
              {version.changes.map((change) => (
                <span key={change} className="block text-ink-2 text-small">
                  {change}
                </span>
              ))}
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

function TablePart({ datasetId, reading }: { datasetId: string; reading: TableReading }) {
  const [chosen, setChosen] = useState<Record<string, string>>({});
  const columns = reading.recipe?.columns ?? [];
  const apply = () => {
    const answers = Object.fromEntries(
      Object.entries(chosen).map(([column, answer]) => [`${reading.table}.${column}`, answer]),
    );
    follow(reading.file, () => changeReading(datasetId, { answers, repairs: [] }));
    setChosen({});
  };
  return (
    <section className="space-y-2">
      <h3 className="font-medium">
        <span className="font-mono text-[13px]">{reading.table}</span>
        <span className="ml-2 text-ink-3">{reading.file}</span>
      </h3>
      {reading.recipe && <p className="text-ink-2 text-small">{textWords(reading.recipe.text)}</p>}
      {reading.notes.map((note) => (
        <p key={note} className="text-ink-2 text-small">
          {note}
        </p>
      ))}
      <div className="overflow-x-auto rounded-md border">
        <table className="w-full text-left">
          <thead className="text-ink-3 text-small">
            <tr>
              <th className="px-3 py-1.5 font-normal">Column</th>
              <th className="px-3 py-1.5 font-normal">Read as</th>
              <th className="px-3 py-1.5 font-normal">Why</th>
              <th className="px-3 py-1.5 font-normal">Do not fit</th>
            </tr>
          </thead>
          <tbody className="divide-y">
            {columns.map((column) => (
              <tr key={column.name}>
                <td className="px-3 py-1.5 font-mono text-[13px]">{column.name}</td>
                <td className="px-3 py-1.5">
                  <ReadAsSelect
                    column={column}
                    chosen={chosen[column.name] ?? null}
                    onChoose={(answer) => setChosen(withChoice(chosen, column.name, answer))}
                  />
                </td>
                <td className="px-3 py-1.5 text-ink-2">{whyWords(column)}</td>
                <td className="px-3 py-1.5 text-right tabular-nums">
                  {reading.misfit_counts[column.name] ? number(reading.misfit_counts[column.name]) : ""}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {Object.keys(chosen).length > 0 && (
        <Button kind="primary" onClick={apply}>
          Read it so
        </Button>
      )}
      <Misfits reading={reading} datasetId={datasetId} />
    </section>
  );
}

function Misfits({ reading, datasetId }: { reading: TableReading; datasetId: string }) {
  if (reading.misfits.length === 0) return null;
  return (
    <div className="space-y-1 rounded-md border border-warning/40 bg-warning-soft p-3">
      <p>These cells do not fit the rest of their column, which is kept as text:</p>
      <ul className="text-small">
        {reading.misfits.slice(0, 10).map((misfit) => (
          <li key={`${misfit.column} ${misfit.row}`}>
            Row {number(misfit.row)}, {misfit.column}: <code className="font-mono">{misfit.value}</code>
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap gap-2 pt-1">
        {reading.repairs.map((repair) => (
          <Button
            key={repair.id}
            size="small"
            onClick={() =>
              follow(reading.file, () => changeReading(datasetId, { answers: {}, repairs: [repair.id] }))
            }
          >
            {repair.label}
          </Button>
        ))}
      </div>
    </div>
  );
}

/** What a column can be read as instead. Dates that could be read in two ways are named by their order. */
const OTHERS = [
  ["text", "text"],
  ["integer", "whole number"],
  ["decimal", "number"],
  ["percent", "percent"],
  ["money", "money"],
  ["day-first", "date, day first"],
  ["month-first", "date, month first"],
  ["boolean", "yes or no"],
] as const;

interface ReadAsSelectProps {
  column: ColumnReading;
  chosen: string | null;
  onChoose: (answer: string | null) => void;
}

function ReadAsSelect({ column, chosen, onChoose }: ReadAsSelectProps) {
  return (
    <Select
      label={`Read ${column.name} as`}
      value={chosen ?? ""}
      onChange={(event) => onChoose(event.target.value || null)}
    >
      <option value="">{readAsWords(column)}</option>
      {OTHERS.filter(([answer]) => answer !== column.read_as).map(([answer, title]) => (
        <option key={answer} value={answer}>
          {title}
        </option>
      ))}
    </Select>
  );
}

function withChoice(chosen: Record<string, string>, column: string, answer: string | null) {
  const { [column]: _, ...others } = chosen;
  return answer === null ? others : { ...others, [column]: answer };
}

/** `money in EUR`, `date, day first`. */
export function readAsWords(column: ColumnReading): string {
  if (column.read_as === "money") return column.unit ? `money in ${column.unit}` : "money";
  if (column.read_as === "integer") return "whole number";
  if (column.read_as === "decimal") return "number";
  if (column.read_as === "boolean") return "yes or no";
  if (column.read_as !== "date" && column.read_as !== "timestamp") return column.read_as;
  const kind = column.read_as === "date" ? "date" : "moment";
  const day = column.format.search(/%d|%-d/);
  const month = column.format.search(/%m|%-m|%b|%B/);
  if (day < 0 || month < 0 || column.format.startsWith("%Y")) return kind;
  return `${kind}, ${day < month ? "day" : "month"} first`;
}

function whyWords(column: ColumnReading): string {
  const empty = column.empty.filter((word) => word !== "");
  const parts = [column.reason, empty.length > 0 ? `empty: ${empty.join(", ")}` : ""];
  return parts.filter(Boolean).join("; ");
}

/** One line on how the text of the file was found; nothing for a plain CSV. */
function textWords(text: NonNullable<TableReading["recipe"]>["text"]): string {
  const parts = [
    text.sheet ? `${text.kind === "sqlite" ? "table" : "sheet"} ${text.sheet}` : "",
    text.member ? `file ${text.member} of the archive` : "",
    text.encoding && text.encoding !== "utf-8" ? `encoding ${text.encoding}` : "",
    text.kind === "csv" && text.delimiter !== ","
      ? `separated by ${text.delimiter === "\t" ? "tabs" : text.delimiter}`
      : "",
    text.skipped_rows ? `${text.skipped_rows} rows above the header` : "",
    text.header === false ? "no header" : "",
    text.ragged === "pad" ? "short rows filled" : "",
    text.ragged === "drop" ? "ragged rows left out" : "",
  ];
  return parts.filter(Boolean).join(" · ");
}
