// The types of chart as a person chooses them.
import {
  ChartArea,
  ChartBar,
  ChartBarBig,
  ChartColumn,
  ChartLine,
  ChartPie,
  ChartScatter,
  Grid3x3,
  type LucideIcon,
} from "lucide-react";
import type { ChartType } from "./redraw";

export const TYPES: Record<ChartType, { title: string; icon: LucideIcon }> = {
  bar: { title: "Bars", icon: ChartColumn },
  hbar: { title: "Horizontal bars", icon: ChartBar },
  line: { title: "Line", icon: ChartLine },
  area: { title: "Area", icon: ChartArea },
  scatter: { title: "Scatter", icon: ChartScatter },
  pie: { title: "Pie", icon: ChartPie },
  heatmap: { title: "Heat map", icon: Grid3x3 },
  histogram: { title: "Histogram", icon: ChartBarBig },
};
