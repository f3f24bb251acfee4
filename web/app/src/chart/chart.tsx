// A run's figure. Plotly is loaded when the first chart is shown.
import { useMemo, useRef, useState } from "react";
import type { Figure, Row } from "~/api/model";
import type { ShownColumn } from "~/format";
import { useTheme, useWindowHeight } from "~/shell";
import { classes, ErrorNote } from "~/ui";
import { ChartBar } from "./chart_bar";
import { dressed, onViewersClock, spokenValues } from "./dress";
import { heightOf, roomIn, SAVED } from "./height";
import { Legend, legendOf } from "./legend";
import { paletteOf } from "./palette";
import { type PictureFormat, savePicture } from "./picture";
import { Plot } from "./plot";
import { type ChartType, fittingTypes, redraw, typeOf } from "./redraw";
import { safeFigure } from "./safe_figure";
import { shapeOf } from "./shape";
import { TYPES } from "./types";

export interface ChartProps {
  /** As the server drew it; nothing when no picture fits, and then the rows may still make one. */
  figure: Figure | null;
  /** The rows the figure was made of, for drawing it as another type. */
  columns: readonly ShownColumn[];
  rows: readonly Row[];
  /** For readers who cannot see it, and for the name of a downloaded picture. */
  title: string;
  className?: string;
}

export function Chart({ figure, columns, rows, title, className }: ChartProps) {
  const theme = useTheme();
  const [chosen, setChosen] = useState<ChartType | null>(null);
  const [error, setError] = useState<unknown>(null);
  const frame = useRef<HTMLElement>(null);
  const types = useMemo(() => fittingTypes(columns, rows), [columns, rows]);
  const drawn = useMemo(() => {
    const own = figure && spokenValues(safeFigure(figure).figure, shapeOf(columns, rows));
    const made = (chosen && redraw(chosen, columns, rows, figure)) ?? own;
    return made && onViewersClock(made);
  }, [chosen, figure, columns, rows]);
  const palette = useMemo(() => paletteOf(theme, getComputedStyle(document.documentElement)), [theme]);
  const shown = useMemo(() => drawn && dressed(drawn, palette), [drawn, palette]);
  const windowHeight = useWindowHeight();
  if (!figure && types.length === 0) return null;

  const legend = shown && drawn?.layout?.showlegend === true ? legendOf(shown) : [];
  const type = chosen ?? typeOf(figure);
  const room = roomIn(windowHeight, legend.length > 0);
  const height = heightOf(drawn, room);
  const save = async (format: PictureFormat) => {
    if (!drawn) return;
    setError(null);
    try {
      const width = frame.current?.clientWidth ?? 720;
      await savePicture(format, {
        figure: drawn,
        palette,
        title,
        width,
        height: heightOf(drawn, SAVED),
      });
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <figure ref={frame} className={classes("min-w-0 overflow-hidden rounded-md border", className)}>
      <ChartBar
        title={title}
        type={type}
        types={types}
        asDrawn={figure !== null}
        chosen={chosen}
        onChoose={setChosen}
        onSave={shown ? save : null}
      />
      {error !== null && <ErrorNote error={error} className="m-2" />}
      <Legend entries={legend} />
      {shown && (
        <div
          // What scrolls must be reachable by keyboard.
          {...(height > room.most ? { tabIndex: 0, role: "group", "aria-label": title } : {})}
          className={classes("overflow-y-auto overflow-x-hidden", legend.length === 0 && "border-t")}
          style={{ maxHeight: room.most }}
        >
          <Plot
            figure={shown}
            height={height}
            label={`${type ? TYPES[type].title : "Chart"}: ${title}. The table has the same values.`}
          />
        </div>
      )}
    </figure>
  );
}
