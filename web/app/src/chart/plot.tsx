// The picture itself. It is drawn when it comes into sight, and again when its figure, colours or width change.
import { useEffect, useRef, useState } from "react";
import type { Figure } from "~/api/model";
import { ErrorNote, Spinner } from "~/ui";
import { loadPlotly } from "./load";
import { useSeen } from "./seen";

interface PlotProps {
  /** Dressed. */
  figure: Figure;
  height: number;
  label: string;
  /** Drawn at once, also where it is not in sight: what is printed is drawn before. */
  eager?: boolean;
}

const CONFIG = {
  displayModeBar: false,
  displaylogo: false,
  doubleClick: false,
  showTips: false,
  responsive: false,
};

export function Plot({ figure, height, label, eager = false }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const [error, setError] = useState<unknown>(null);
  const [drawn, setDrawn] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const near = useSeen(place);
  const seen = near || eager;

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt is another reason to draw
  useEffect(() => {
    const element = place.current;
    if (!seen || !element) return;
    let wanted = true;
    loadPlotly()
      .then((plotly) => {
        if (!wanted) return;
        // Plotly writes into what it is given.
        const { data, layout } = structuredClone(figure);
        return plotly.react(element, data, { ...layout, height, width: element.clientWidth }, CONFIG);
      })
      .then(
        () => wanted && setDrawn(true),
        (thrown: unknown) => wanted && setError(thrown),
      );
    return () => {
      wanted = false;
    };
  }, [figure, height, seen, attempt]);

  useEffect(() => {
    const element = place.current;
    if (!drawn || !element) return;
    let frame = 0;
    const observer = new ResizeObserver(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => {
        loadPlotly().then((plotly) => plotly.relayout(element, { width: element.clientWidth }), setError);
      });
    });
    observer.observe(element);
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
    };
  }, [drawn]);

  useEffect(() => {
    const element = place.current;
    return () => {
      // Only what was drawn has something to clear away, and then Plotly is there at once.
      if (element?.classList.contains("js-plotly-plot"))
        void loadPlotly().then((plotly) => plotly.purge(element));
    };
  }, []);

  if (error !== null) {
    return (
      <ErrorNote
        error={error}
        className="m-3"
        onRetry={() => {
          setError(null);
          setAttempt(attempt + 1);
        }}
      />
    );
  }
  return (
    <div className="relative" style={{ height }}>
      <div ref={place} role="img" aria-label={label} className="h-full w-full overflow-hidden" />
      {seen && !drawn && (
        <div className="absolute inset-0 grid place-items-center">
          <Spinner label="Drawing the chart" />
        </div>
      )}
    </div>
  );
}
