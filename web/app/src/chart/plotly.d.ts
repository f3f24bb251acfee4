// The bundle brings no types of its own. Only what is used of it.
declare module "plotly.js-cartesian-dist-min" {
  export interface PlotlyConfig {
    responsive?: boolean;
    displayModeBar?: boolean | "hover";
    displaylogo?: boolean;
    staticPlot?: boolean;
    [name: string]: unknown;
  }
  export interface PictureOptions {
    format: "png" | "svg";
    width: number;
    height: number;
    scale?: number;
  }
  type Data = Record<string, unknown>[];
  type Layout = Record<string, unknown>;
  type Place = HTMLElement;

  interface Plotly {
    newPlot(place: Place, data: Data, layout?: Layout, config?: PlotlyConfig): Promise<Place>;
    react(place: Place, data: Data, layout?: Layout, config?: PlotlyConfig): Promise<Place>;
    relayout(place: Place, changes: Layout): Promise<Place>;
    purge(place: Place): void;
    toImage(place: Place | { data: Data; layout?: Layout }, options: PictureOptions): Promise<string>;
    Plots: { resize(place: Place): void };
  }
  const plotly: Plotly;
  export default plotly;
}
