// Plotly, once and only when a chart is on screen. A load that failed may be tried again.
import { Problem } from "~/api/problem";

type Plotly = typeof import("plotly.js-cartesian-dist-min").default;

let coming: Promise<Plotly> | null = null;

export function loadPlotly(): Promise<Plotly> {
  coming ??= import("plotly.js-cartesian-dist-min").then(
    (module) => module.default,
    () => {
      coming = null;
      throw new Problem({
        code: "NETWORK",
        message: "The chart could not be loaded.",
        suggestion: "Check that the server is running, then try again. The table has the same values.",
      });
    },
  );
  return coming;
}
