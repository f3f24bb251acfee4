// What code showed besides text. All of it was written by a stranger's code: it is read with care, and drawn by
// components that trust none of it.
import { type Figure, figureOf, isFields, type ResultColumn, type SentArtifact } from "~/api/model";

type Sent<Kind extends SentArtifact["kind"]> = Extract<SentArtifact, { kind: Kind }>;
type SentPlot<Format extends Sent<"plot">["format"]> = Extract<Sent<"plot">, { format: Format }>;

export type TableArtifact = Sent<"table">;
export type PlotArtifact =
  | (Omit<SentPlot<"plotly">, "figure"> & { figure: Figure })
  | SentPlot<"svg">
  | SentPlot<"vega-lite">;
export type Artifact = TableArtifact | PlotArtifact | Sent<"html"> | Sent<"mermaid"> | Sent<"markdown">;

type Named = Pick<Artifact, "id" | "title">;
type Fields = Record<string, unknown>;

/** Those that can be understood, each id once: the newest of two holds. */
export function artifactsOf(value: unknown): Artifact[] {
  if (!Array.isArray(value)) return [];
  return value.reduce<Artifact[]>((known, one) => {
    const artifact = artifactOf(one);
    return artifact ? withArtifact(known, artifact) : known;
  }, []);
}

export function withArtifact(known: readonly Artifact[], artifact: Artifact): Artifact[] {
  const place = known.findIndex((one) => one.id === artifact.id);
  return place < 0 ? [...known, artifact] : known.with(place, artifact);
}

export function artifactOf(value: unknown): Artifact | null {
  if (!isFields(value) || typeof value.id !== "string") return null;
  const named: Named = { id: value.id, title: typeof value.title === "string" ? value.title : "" };
  switch (value.kind) {
    case "table":
      return tableOf(named, value);
    case "plot":
      return plotOf(named, value);
    case "html":
      return typeof value.html === "string" ? { ...named, kind: "html", html: value.html } : null;
    case "mermaid":
    case "markdown":
      return typeof value.text === "string" ? { ...named, kind: value.kind, text: value.text } : null;
    default:
      return null;
  }
}

function tableOf(named: Named, { columns, rows, row_count, truncated }: Fields): TableArtifact | null {
  if (!Array.isArray(columns) || !columns.every(isColumn)) return null;
  if (!Array.isArray(rows) || !rows.every((row) => Array.isArray(row))) return null;
  const count = typeof row_count === "number" ? row_count : rows.length;
  return { ...named, kind: "table", columns, rows, row_count: count, truncated: truncated === true };
}

function plotOf(named: Named, { format, figure, svg, spec }: Fields): PlotArtifact | null {
  if (format === "svg" && typeof svg === "string") return { ...named, kind: "plot", format, svg };
  if (format === "vega-lite" && isFields(spec)) return { ...named, kind: "plot", format, spec };
  const drawn = format === "plotly" ? figureOf(figure) : null;
  return drawn && { ...named, kind: "plot", format: "plotly", figure: drawn };
}

const isColumn = (value: unknown): value is ResultColumn =>
  isFields(value) && typeof value.name === "string" && typeof value.kind === "string";
