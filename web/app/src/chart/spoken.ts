// The amounts of a figure in the words of the table. What is shown, and where, the server says. Pure.
import type { Figure, Row } from "~/api/model";
import { cell, isNumeric, type ShownColumn } from "~/format";
import { escaped } from "./dress";

type Part = Record<string, unknown>;

interface Field {
  column: ShownColumn;
  cells: ReadonlySet<string>;
}

/** Hovering says an amount as the table does, with its unit. The server's own words around it stay. */
export function spokenValues(figure: Figure, columns: readonly ShownColumn[], rows: readonly Row[]): Figure {
  const fields = columns
    .map((column, at): Field => ({ column, cells: new Set(rows.map((row) => String(row[at]))) }))
    .filter(({ column }) => isNumeric(column));
  return { ...figure, data: figure.data.map((trace) => spokenTrace(trace, fields)) };
}

function spokenTrace(trace: Part, fields: readonly Field[]): Part {
  const template = trace.hovertemplate;
  if (typeof template !== "string" || trace.type === "histogram" || trace.hovertext !== undefined)
    return trace;
  const field = sourceOf(valuesOf(trace), fields);
  const letter = letterOf(trace);
  // With the unit that the server writes beside it, in the line of its own that the amount has.
  const value = new RegExp(`[^<>]*%\\{${letter}(:[^}]*)?\\}[^<>]*`);
  if (!field || !value.test(template)) return trace;
  const say = (one: unknown): unknown => {
    if (Array.isArray(one)) return one.map(say);
    return one === null || one === undefined ? "" : escaped(cell(one, field.column).text);
  };
  const made: Part = {
    ...trace,
    hovertext: say(trace.type === "pie" ? trace.values : trace[letter]),
    hovertemplate: template.replace(value, "%{hovertext}"),
  };
  if (trace.type === "pie" && typeof trace.texttemplate === "string") {
    made.text = made.hovertext;
    made.texttemplate = trace.texttemplate.replace(value, "%{text}");
  }
  return made;
}

/** The column that a figure's values come from: the first that has all of them. */
function sourceOf(values: readonly unknown[], fields: readonly Field[]): Field | undefined {
  const wanted = values.filter((value) => value !== null && value !== undefined).map(String);
  if (wanted.length === 0) return undefined;
  return fields.find(({ cells }) => wanted.every((value) => cells.has(value)));
}

/** The values of a trace along its axis of amounts. */
function valuesOf(trace: Part): readonly unknown[] {
  const values = trace.type === "pie" ? trace.values : trace[letterOf(trace)];
  return Array.isArray(values) ? values.flat() : [];
}

function letterOf(trace: Part): string {
  if (trace.type === "pie") return "value";
  if (trace.type === "heatmap") return "z";
  return trace.orientation === "h" ? "x" : "y";
}
