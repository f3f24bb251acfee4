// What a tile shows of a stored run: the sentence, the picture, the rows, and how sure and fresh it is.
import { RotateCw } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { type BoardTile, figureOf, type RunView, type TileResult } from "~/api/model";
import { dressed, onViewersClock } from "~/chart/dress";
import { computedTitle, Legend, legendOf } from "~/chart/legend";
import { NumberList, numbersOf } from "~/chart/numbers";
import { paletteOf } from "~/chart/palette";
import { Plot } from "~/chart/plot";
import { safeFigure } from "~/chart/safe_figure";
import { cell, count, isNumeric } from "~/format";
import { useDetails, useTheme } from "~/shell";
import { Button, Markdown, StatusDot } from "~/ui";

const LEAST_CHART_PX = 120;

interface TileBodyProps {
  result: TileResult;
  show: BoardTile["show"];
}

export function TileBody({ result, show }: TileBodyProps) {
  const run = result.run;
  if (!run) return null;
  const drawn = figureOf(run.chart);
  const numbers = drawn && numbersOf(drawn);
  const single = numbers ? null : singleValue(run);
  const figure = !numbers && (show === "all" || show === "chart") ? drawn : null;
  const large = numbers !== null || single !== null;
  const found = (run.rows?.length ?? 0) > 0;
  const rows =
    found && !large && (show === "table" || (show === "all" && !figure) || (show === "chart" && !figure));
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-2">
      {run.error && <p className="text-danger">{run.error.message}</p>}
      {numbers && show !== "table" && <NumberList numbers={numbers} />}
      {single && show !== "table" && <p className="font-medium text-[32px] leading-10">{single}</p>}
      {result.sentence && (show === "all" || show === "sentence") && (
        <div className={show === "sentence" ? "text-title" : "line-clamp-3 text-ink-2 print:line-clamp-none"}>
          <Markdown text={result.sentence} />
        </div>
      )}
      {figure && <TileChart run={run} figure={figure} />}
      {(rows || (large && show === "table")) && run.rows && <TileTable run={run} />}
    </div>
  );
}

/** One number alone is set large. */
function singleValue(run: RunView): string | null {
  const [column] = run.columns;
  const value = run.rows?.[0]?.[0];
  if (run.columns.length !== 1 || run.rows?.length !== 1 || !column || !isNumeric(column)) return null;
  return cell(value, column).text;
}

function TileChart({ run, figure }: { run: RunView; figure: NonNullable<ReturnType<typeof figureOf>> }) {
  const theme = useTheme();
  const place = useRef<HTMLDivElement>(null);
  const height = useHeight(place);
  const shown = useMemo(() => {
    const palette = paletteOf(theme, getComputedStyle(document.documentElement));
    return dressed(onViewersClock(safeFigure(figure).figure), palette);
  }, [figure, theme]);
  const legend = shown && figure.layout?.showlegend === true ? legendOf(shown) : [];
  const title = computedTitle(figure) || run.question;
  return (
    <figure className="flex min-h-[120px] flex-1 flex-col">
      <Legend entries={legend} />
      <div ref={place} className="min-h-0 flex-1 overflow-hidden">
        {height > 0 && <Plot eager figure={shown} height={Math.max(LEAST_CHART_PX, height)} label={title} />}
      </div>
    </figure>
  );
}

/** A tile says how high its picture is, not the picture. */
function useHeight(place: React.RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(0);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setHeight(Math.floor(element.clientHeight)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [place]);
  return height;
}

function TileTable({ run }: { run: RunView }) {
  const rows = run.rows ?? [];
  const all = run.row_count ?? rows.length;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section tabIndex={0} aria-label="Rows" className="min-h-0 flex-1 overflow-auto print:overflow-visible">
      <table className="w-full border-collapse">
        <thead>
          <tr>
            {run.columns.map((column, at) => (
              <th
                // biome-ignore lint/suspicious/noArrayIndexKey: columns may share a name, and never change places
                key={at}
                scope="col"
                className={`sticky top-0 border-b bg-page px-2 py-1 font-medium text-ink-2 text-small ${isNumeric(column) ? "text-right" : "text-left"}`}
              >
                {column.name.replaceAll("_", " ")}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of a run never change
            <tr key={at}>
              {run.columns.map((column, place) => {
                const shown = cell(row[place], column);
                return (
                  <td
                    // biome-ignore lint/suspicious/noArrayIndexKey: as above
                    key={place}
                    title={shown.title}
                    className={`border-b px-2 py-1 ${shown.align === "right" ? "text-right" : "text-left"} ${shown.empty ? "text-ink-3" : ""}`}
                  >
                    {shown.text}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {all > rows.length && (
        <p className="px-2 py-1 text-ink-3 text-small">
          The first {rows.length} of {count(all, "row")}
        </p>
      )}
    </section>
  );
}

interface TileFootProps {
  result: TileResult;
  running: boolean;
  onRun: () => void;
}

/** Proof and freshness; what the tile is not filtered by. */
export function TileFoot({ result, running, onRun }: TileFootProps) {
  const details = useDetails();
  const run = result.run;
  return (
    <footer className="space-y-1 text-small">
      {result.not_filtered.map(({ column, reason }) => (
        <p key={column} className="text-warning">
          Not filtered by {column}: {reason}.
        </p>
      ))}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-ink-3">
        {run && (
          <>
            <span className="inline-flex items-center gap-1.5">
              <StatusDot status={run.status} />
              {run.finished_at && (
                <button
                  type="button"
                  onClick={() => details.open(run.run_id, "proof")}
                  className="-mx-1 rounded px-1 py-0.5 underline decoration-line-strong underline-offset-2 hover:bg-hover"
                >
                  sealed<span className="sr-only">, show the proof</span>
                </button>
              )}
            </span>
            <span title={run.dataset_version}>as of version {shortVersion(run.dataset_version)}</span>
          </>
        )}
        {result.newer_data && <span className="text-warning">newer data</span>}
        <Button
          kind={result.newer_data ? "plain" : "quiet"}
          size="small"
          className="ml-auto print:hidden"
          disabled={running}
          onClick={onRun}
        >
          <RotateCw aria-hidden />
          {running ? "Running" : "Run again"}
        </Button>
      </div>
    </footer>
  );
}

const shortVersion = (version: string) => version.replace(/^sha256:/, "").slice(0, 8);
