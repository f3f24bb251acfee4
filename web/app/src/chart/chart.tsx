// A run's figure, as the server drew it or as another kind that a person asks the server for.
// Plotly is loaded when the first chart is shown.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import { type ChartKind, type Figure, figureOf, type Row } from "~/api/model";
import { chartQuery } from "~/api/queries";
import type { ShownColumn } from "~/format";
import { useTheme, useWindowHeight } from "~/shell";
import { classes, ErrorNote } from "~/ui";
import { ChartBar } from "./chart_bar";
import { dressed, onViewersClock } from "./dress";
import { heightOf, roomFor, roomIn, SAVED } from "./height";
import { Legend, legendOf, noteOf } from "./legend";
import { Numbers, numbersOf } from "./numbers";
import { paletteOf } from "./palette";
import { type PictureFormat, savePicture } from "./picture";
import { Plot } from "./plot";
import { safeFigure } from "./safe_figure";
import { useSeen } from "./seen";
import { spokenValues } from "./spoken";
import { KINDS } from "./types";

export interface ChartProps {
  /** The run whose rows it shows: other kinds are drawn from them. */
  runId: string;
  figure: Figure;
  /** What the table says of the same rows, for the words of hovering labels. */
  columns: readonly ShownColumn[];
  rows: readonly Row[];
  /** For readers who cannot see it, and for the name of a downloaded picture. */
  title: string;
  className?: string;
}

export function Chart(props: ChartProps) {
  const numbers = numbersOf(props.figure);
  return numbers ? <Numbers figure={props.figure} numbers={numbers} /> : <Drawn {...props} />;
}

function Drawn({ runId, figure, columns, rows, title, className }: ChartProps) {
  const theme = useTheme();
  const [chosen, setChosen] = useState<ChartKind | null>(null);
  const [error, setError] = useState<unknown>(null);
  const frame = useRef<HTMLElement>(null);
  const seen = useSeen(frame);
  const own = useQuery({ ...chartQuery(runId), enabled: seen });
  const other = useQuery({
    ...chartQuery(runId, chosen),
    enabled: chosen !== null,
    // The chart that is there stays until the next one has come.
    placeholderData: keepPreviousData,
  });
  const drawn = useMemo(() => {
    const asked = chosen === null ? null : figureOf(other.data?.figure);
    return onViewersClock(spokenValues(safeFigure(asked ?? figure).figure, columns, rows));
  }, [chosen, other.data, figure, columns, rows]);
  const palette = useMemo(() => paletteOf(theme, getComputedStyle(document.documentElement)), [theme]);
  const shown = useMemo(() => dressed(drawn, palette), [drawn, palette]);
  const windowHeight = useWindowHeight();

  const legend = drawn.layout?.showlegend === true ? legendOf(shown) : [];
  const note = noteOf(drawn);
  const kind = chosen ?? own.data?.kind ?? null;
  const room = roomFor(drawn, roomIn(windowHeight, legend.length > 0));
  const height = heightOf(drawn, room);
  const save = async (format: PictureFormat) => {
    setError(null);
    try {
      const width = frame.current?.clientWidth ?? 720;
      await savePicture(format, { figure: drawn, palette, title, width, height: heightOf(drawn, SAVED) });
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <figure ref={frame} className={classes("min-w-0 overflow-hidden rounded-md border", className)}>
      <ChartBar
        title={title}
        kind={kind}
        kinds={own.data?.kinds ?? []}
        chosen={chosen}
        onChoose={setChosen}
        onSave={save}
      />
      {chosen !== null && other.error && (
        <ErrorNote error={other.error} className="m-2" onRetry={() => other.refetch()} />
      )}
      {error !== null && <ErrorNote error={error} className="m-2" />}
      {note && <p className="border-t px-3 py-1.5 text-small text-warning">{note}</p>}
      <Legend entries={legend} />
      <div
        // What scrolls must be reachable by keyboard.
        {...(height > room.most ? { tabIndex: 0, role: "group", "aria-label": title } : {})}
        className={classes("overflow-y-auto overflow-x-hidden", legend.length === 0 && "border-t")}
        style={{ maxHeight: room.most }}
      >
        <Plot
          figure={shown}
          height={height}
          label={`${kind ? KINDS[kind].title : "Chart"}: ${title}. The table has the same values.`}
        />
      </div>
    </figure>
  );
}
