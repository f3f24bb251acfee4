// A stranger's figure in the page's colours, as far as it has none of its own. Pure.
import type { Figure } from "~/api/model";
import type { Palette } from "~/chart/palette";

type Fields = Record<string, unknown>;

const LEAST = 160;
const USUAL = 360;
const MOST = 800;
const CLEAR = "rgba(0,0,0,0)";

/** What it says itself holds; what it leaves open comes from a template of ours. `caption` stands above it already. */
export function inPageColours(given: Figure, palette: Palette, caption: string): Figure {
  const figure = titleOf(given) === caption ? untitled(given) : given;
  const axis = {
    gridcolor: palette.line,
    linecolor: palette.lineStrong,
    zerolinecolor: palette.lineStrong,
    tickcolor: palette.lineStrong,
    automargin: true,
    // With a standoff the margin grows for the title; without one it is cut off below.
    title: { standoff: 12, font: { size: 12 } },
    // The page scrolls over a chart; nothing in it is dragged.
    fixedrange: true,
  };
  const font = { family: palette.font, size: 12, color: palette.quiet };
  const template = {
    layout: {
      paper_bgcolor: CLEAR,
      plot_bgcolor: CLEAR,
      colorway: [...palette.series],
      font,
      title: { font: { size: 15, color: palette.ink }, x: 0.02, xanchor: "left" },
      margin: { t: titleOf(figure) ? 48 : 16, r: 16, b: 52, l: 56 },
      hoverlabel: {
        bgcolor: palette.page,
        bordercolor: palette.lineStrong,
        font: { ...font, color: palette.ink },
      },
      legend: { bgcolor: CLEAR },
      colorscale: {
        sequential: [
          [0, palette.soft],
          [1, palette.series[0] ?? palette.ink],
        ],
      },
      xaxis: axis,
      yaxis: axis,
    },
  };
  const { width: _, height: __, ...layout } = figure.layout ?? {};
  return { data: figure.data, layout: { ...layout, template, dragmode: false, autosize: true } };
}

function titleOf({ layout }: Figure): string {
  const title = layout?.title;
  const text = typeof title === "string" ? title : (title as Fields | undefined)?.text;
  return typeof text === "string" ? text : "";
}

function untitled({ data, layout: { title: _, ...layout } = {} }: Figure): Figure {
  return { data, layout };
}

/** As high as it asks for, within what a page can bear. */
export function heightOf({ layout }: Figure): number {
  const own = Number(layout?.height);
  return own > 0 ? Math.min(MOST, Math.max(LEAST, own)) : USUAL;
}
