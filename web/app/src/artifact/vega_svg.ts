// A Vega-Lite specification as SVG. Its expressions are interpreted, never compiled, and nothing is loaded.
import * as vega from "vega";
import { type Loader, parse, View, Warn } from "vega";
import { expressionInterpreter } from "vega-interpreter";
import { compile, type TopLevelSpec } from "vega-lite";

export interface VegaLook {
  ink: string;
  quiet: string;
  line: string;
  lineStrong: string;
  font: string;
  series: readonly string[];
  /** How wide it should be, where it does not say so itself. */
  width: number;
}

type Measured = { font: string; measureText(text: string): { width: number } };
/** Vega's own way to measure, which its types leave out. */
interface TextMetrics {
  width: (item: { fontSize?: number; font?: string; fontWeight?: string | number }, text?: unknown) => number;
}

/** Where there is no page, Vega only guesses how wide a text is. */
export function measureWith(canvas: Measured): void {
  const { textMetrics } = vega as unknown as { textMetrics: TextMetrics };
  textMetrics.width = (item, text) => {
    const { fontSize = 11, font = "sans-serif", fontWeight = "normal" } = item;
    canvas.font = `${fontWeight} ${fontSize}px ${font}`;
    return text === undefined || text === null ? 0 : canvas.measureText(String(text)).width;
  };
}

const refuse = () => Promise.reject(new Error("charts load nothing from other addresses"));
// A link leads nowhere and a picture shows nothing: the renderer does not expect to be refused.
const nowhere = () => Promise.resolve({ href: "" });
const NOTHING_LOADED: Loader = { load: refuse, sanitize: nowhere, http: refuse, file: refuse };

const SILENT = {
  level: () => SILENT,
  error: () => SILENT,
  warn: () => SILENT,
  info: () => SILENT,
  debug: () => SILENT,
};

export async function vegaSvg(spec: Record<string, unknown>, look: VegaLook): Promise<string> {
  // What is not understood makes the compiler throw, and that is told.
  const wide = fitted(spec, look.width) as unknown as TopLevelSpec;
  const { spec: compiled } = compile(wide, { config: configOf(look), logger: SILENT });
  if (compiled.data?.some((one) => "url" in one)) throw new Error("its data lies at another address");
  const view = new View(parse(compiled, undefined, { ast: true }), {
    expr: expressionInterpreter,
    loader: NOTHING_LOADED,
    renderer: "none",
    logLevel: Warn,
    logger: SILENT,
  });
  try {
    return await view.toSVG();
  } finally {
    view.finalize();
  }
}

/** Charts of several views keep their own sizes. */
function fitted(spec: Record<string, unknown>, width: number): Record<string, unknown> {
  const single = "mark" in spec || "layer" in spec;
  const { usermeta: _, ...rest } = spec;
  if (!single || typeof spec.width === "number" || (spec.width && spec.width !== "container")) return rest;
  return { ...rest, width, autosize: { type: "fit", contains: "padding" } };
}

function configOf({ ink, quiet, line, lineStrong, font, series }: VegaLook) {
  const text = { labelColor: quiet, titleColor: quiet, labelFontSize: 12, titleFontSize: 12 };
  return {
    background: "transparent",
    font,
    axis: {
      ...text,
      gridColor: line,
      domainColor: lineStrong,
      tickColor: lineStrong,
      titleFontWeight: "normal" as const,
    },
    legend: { ...text, titleFontWeight: "normal" as const },
    header: text,
    title: { color: ink, fontSize: 15, anchor: "start" as const, subtitleColor: quiet },
    text: { color: ink },
    view: { stroke: "transparent" },
    mark: { color: series[0] ?? ink },
    rule: { color: quiet },
    range: { category: [...series] },
  };
}
