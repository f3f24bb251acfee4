// The kinds of chart as a person chooses them.
import {
  ChartArea,
  ChartBar,
  ChartBarBig,
  ChartBarStacked,
  ChartColumn,
  ChartColumnStacked,
  ChartLine,
  ChartPie,
  ChartScatter,
  Grid3x3,
  type LucideIcon,
} from "lucide-react";
import type { ChartKind } from "~/api/model";

export const KINDS: Record<ChartKind, { title: string; icon: LucideIcon }> = {
  column: { title: "Bars", icon: ChartColumn },
  horizontal_bar: { title: "Horizontal bars", icon: ChartBar },
  stacked_bar: { title: "Stacked bars", icon: ChartBarStacked },
  stacked_share: { title: "100 % bars", icon: ChartColumnStacked },
  line: { title: "Line", icon: ChartLine },
  area: { title: "Area", icon: ChartArea },
  scatter: { title: "Scatter", icon: ChartScatter },
  pie: { title: "Pie", icon: ChartPie },
  heatmap: { title: "Heat map", icon: Grid3x3 },
  histogram: { title: "Histogram", icon: ChartBarBig },
};
