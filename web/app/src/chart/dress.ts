// A figure in the colours, type and quiet of the page. Pure: the same figure may be dressed for either theme.
import type { Figure } from "~/api/model";
import { areDays, onTheWall } from "~/format";
import type { Palette } from "./palette";

type Part = Record<string, unknown>;

const FEW_MOMENTS = 8;
const CLEAR = "rgba(0,0,0,0)";

export function dressed(figure: Figure, palette: Palette, title = ""): Figure {
  const layout = figure.layout ?? {};
  const made: Part = {
    ...layout,
    paper_bgcolor: CLEAR,
    plot_bgcolor: CLEAR,
    colorway: [...palette.series],
    font: { family: palette.font, size: 12, color: palette.quiet },
    margin: { t: title ? 56 : 12, r: 16, b: title ? 28 : 8, l: 48 },
    hoverlabel: {
      bgcolor: palette.page,
      bordercolor: palette.lineStrong,
      font: { family: palette.font, size: 12, color: palette.ink },
      align: "left",
    },
    // On the page the legend stands above the picture; a picture by itself has its own.
    showlegend: title !== "" && layout.showlegend === true,
    legend: { ...part(layout.legend), bgcolor: CLEAR, font: { size: 12, color: palette.quiet } },
    hovermode: "closest",
    dragmode: false,
    autosize: true,
    bargap: layout.bargap ?? 0.28,
    title: title
      ? { text: escaped(title), x: 0.02, xanchor: "left", font: { size: 15, color: palette.ink } }
      : { text: "" },
  };
  if (layout.xaxis) made.xaxis = axis(momentsNamedOnce(part(layout.xaxis), figure), palette);
  for (const name of Object.keys(layout).filter((one) => /^yaxis\d*$/.test(one)))
    made[name] = axis(part(layout[name]), palette);
  if (layout.annotations)
    made.annotations = list(layout.annotations).map((note) => noted(part(note), palette));
  if (layout.shapes) made.shapes = list(layout.shapes).map((shape) => lined(part(shape), palette));
  delete made.height;
  delete made.width;
  return { data: figure.data.map((trace, place) => coloured(trace, place, palette)), layout: made };
}

/** Among a few months or years Plotly would write the same name several times: each moment has one tick. */
function momentsNamedOnce(given: Part, figure: Figure): Part {
  if (given.type !== "date" || given.tickmode !== undefined) return given;
  const moments = new Set(figure.data.flatMap((trace) => list(trace.x)));
  return moments.size <= FEW_MOMENTS ? { ...given, tickmode: "array", tickvals: [...moments] } : given;
}

function axis(given: Part, palette: Palette): Part {
  const amounts = given.type === "linear" || given.type === undefined;
  return {
    ...given,
    gridcolor: palette.line,
    linecolor: palette.lineStrong,
    zerolinecolor: palette.lineStrong,
    zerolinewidth: 1,
    tickcolor: palette.lineStrong,
    tickfont: { color: palette.quiet },
    // Names and moments say themselves what they are, and the title says it too.
    title: amounts
      ? { ...part(given.title), standoff: 10, font: { size: 12, color: palette.quiet } }
      : { text: "" },
    automargin: true,
    // Names stand in a row of their own; only amounts and moments are read off a grid.
    showgrid: given.type !== "category",
    // The page scrolls over a chart; nothing in it is dragged.
    fixedrange: true,
  };
}

function lined(shape: Part, palette: Palette): Part {
  return { ...shape, line: { ...part(shape.line), color: palette.quiet } };
}

/** A text in the picture, such as the heading of a panel. */
function noted(note: Part, palette: Palette): Part {
  return { ...note, font: { size: 12, color: palette.quiet } };
}

function coloured(trace: Part, place: number, palette: Palette): Part {
  // A series that is in several panels has one colour.
  const group = trace.legendgroup === undefined ? Number.NaN : Number(trace.legendgroup);
  const alone = trace.yaxis !== undefined && trace.name === undefined;
  const series = alone ? 0 : Number.isInteger(group) ? group : place;
  const colour = palette.series[series % palette.series.length] ?? palette.ink;
  const marker = part(trace.marker);
  if (trace.type === "pie") {
    const colors = list(trace.labels).map((_, slice) => palette.series[slice % palette.series.length]);
    return {
      ...trace,
      marker: { ...marker, colors, line: { color: palette.page, width: 1 } },
      textposition: "outside",
      outsidetextfont: { color: palette.ink },
    };
  }
  if (trace.type === "heatmap") {
    return {
      ...trace,
      colorscale: [
        [0, palette.soft],
        [1, palette.series[0] ?? palette.ink],
      ],
      colorbar: {
        ...part(trace.colorbar),
        title: { ...part(part(trace.colorbar).title), font: { size: 12 } },
        outlinewidth: 0,
        thickness: 12,
        tickfont: { color: palette.quiet },
      },
    };
  }
  const made: Part = { ...trace, marker: { ...marker, color: colour } };
  if (trace.type === "scatter") {
    // A point at the edge is seen whole.
    made.cliponaxis = false;
    made.line = { ...part(trace.line), color: colour, width: 2 };
    if (trace.fill) made.fillcolor = faint(colour);
  }
  return made;
}

/** Plotly's axes know no zones: moments get the time that the table shows them at. */
export function onViewersClock(figure: Figure): Figure {
  if (part(figure.layout?.xaxis).type !== "date") return figure;
  const isDays = areDays(figure.data.flatMap((trace) => list(trace.x)));
  if (isDays) return figure;
  const data = figure.data.map((trace) =>
    Array.isArray(trace.x) ? { ...trace, x: trace.x.map((value) => onTheWall(value)) } : trace,
  );
  return { ...figure, data };
}

/** Plotly knows hexadecimal colours with an alpha, and nothing newer. */
function faint(colour: string): string {
  return /^#[0-9a-f]{6}$/i.test(colour) ? `${colour}2e` : colour;
}

/** Plotly reads tags in texts. */
export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function part(value: unknown): Part {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Part) : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
