// A stranger's Plotly figure: looked through, then drawn in the page's colours where it has none of its own.
import { useMemo } from "react";
import type { Figure } from "~/api/model";
import { paletteOf } from "~/chart/palette";
import { Plot } from "~/chart/plot";
import { safeFigure } from "~/chart/safe_figure";
import { useTheme } from "~/shell";
import { Framed } from "./framed";
import { heightOf, inPageColours } from "./plot_look";

export function PlotlyPlot({ figure, title }: { figure: Figure; title: string }) {
  const theme = useTheme();
  const { figure: safe, left } = useMemo(() => safeFigure(figure), [figure]);
  const shown = useMemo(
    () => inPageColours(safe, paletteOf(theme, getComputedStyle(document.documentElement)), title),
    [safe, theme, title],
  );
  return (
    <Framed title={title}>
      {left.length > 0 && (
        <p className="border-b px-3 py-2 text-ink-2">
          Left out, because it is not drawn here: {left.join(", ")}.
        </p>
      )}
      {shown.data.length > 0 && <Plot figure={shown} height={heightOf(safe)} label={title} />}
    </Framed>
  );
}
