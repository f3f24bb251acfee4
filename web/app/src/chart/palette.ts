// The colours of a chart: the page's own, and one ramp for series.

export interface Palette {
  ink: string;
  quiet: string;
  page: string;
  panel: string;
  line: string;
  lineStrong: string;
  /** The low end of a heat map. */
  soft: string;
  font: string;
  /** The accent first. */
  series: readonly string[];
}

// Hues after Okabe and Ito, told apart by colour-blind eyes; each has 3:1 against the page of its theme.
// They mean nothing but "another series", so they are no tokens.
const SERIES = {
  light: ["#b87600", "#008a66", "#b8548f", "#2f8fc4", "#c24e00", "#75756f"],
  dark: ["#e8a93a", "#3fc09a", "#e093bf", "#f0e070", "#ef8a55", "#a5a59f"],
} as const;

export function paletteOf(
  theme: "light" | "dark",
  style: Pick<CSSStyleDeclaration, "getPropertyValue">,
): Palette {
  const token = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: token("ink"),
    quiet: token("ink-2"),
    page: token("page"),
    panel: token("panel"),
    line: token("line"),
    lineStrong: token("line-strong"),
    soft: token("accent-soft"),
    font: token("font-sans") || "system-ui, sans-serif",
    series: [token("accent"), ...SERIES[theme]],
  };
}
