// A Vega-Lite chart as a picture: drawn in a worker from the data that it brings along.
import { useEffect, useMemo, useRef, useState } from "react";
import { paletteOf } from "~/chart/palette";
import { useTheme } from "~/shell";
import { Skeleton } from "~/ui";
import { Picture, Undrawn } from "./picture";
import type { VegaLook } from "./vega_svg";
import type { Drawing, Drawn } from "./vega_worker";

const PATIENCE_MS = 20_000;
const NARROWEST = 240;
const WIDEST = 720;
const PADDING = 26;

export default function VegaPlot({ spec, title }: { spec: Record<string, unknown>; title: string }) {
  const theme = useTheme();
  const place = useRef<HTMLDivElement>(null);
  const [drawn, setDrawn] = useState<Drawn | null>(null);
  const palette = useMemo(() => paletteOf(theme, getComputedStyle(document.documentElement)), [theme]);
  useEffect(() => {
    const width = Math.min(WIDEST, Math.max(NARROWEST, (place.current?.clientWidth ?? WIDEST) - PADDING));
    const { ink, quiet, line, lineStrong, font, series } = palette;
    return draw(
      { spec, look: { ink, quiet, line, lineStrong, font, series, width } satisfies VegaLook },
      setDrawn,
    );
  }, [spec, palette]);
  return (
    <div ref={place} className="min-w-0">
      {drawn === null && <Skeleton className="h-80" />}
      {drawn && "svg" in drawn && <Picture svg={drawn.svg} title={title} paper={false} />}
      {drawn && "error" in drawn && (
        <Undrawn
          what={`chart (${drawn.error.replace(/^Error: /, "")})`}
          title={title}
          text={JSON.stringify(spec, null, 2)}
        />
      )}
    </div>
  );
}

/** Gives the way to stop. */
function draw(drawing: Drawing, tell: (drawn: Drawn) => void): () => void {
  const worker = new Worker(new URL("./vega_worker.ts", import.meta.url), { type: "module" });
  const end = (drawn: Drawn) => {
    stop();
    tell(drawn);
  };
  const timer = setTimeout(() => end({ error: "it takes too long" }), PATIENCE_MS);
  const stop = () => {
    clearTimeout(timer);
    worker.terminate();
  };
  worker.onmessage = ({ data }: MessageEvent<Drawn>) => end(data);
  worker.onerror = () => end({ error: "the part that draws it could not be loaded" });
  worker.postMessage(drawing);
  return stop;
}
