// A chart as a file: as it is seen, with its title and background.
import type { Figure } from "~/api/model";
import { dressed } from "./dress";
import { loadPlotly } from "./load";
import type { Palette } from "./palette";

export type PictureFormat = "png" | "svg";

interface Picture {
  figure: Figure;
  palette: Palette;
  title: string;
  width: number;
  height: number;
}

const TITLE_PX = 44;

export async function savePicture(format: PictureFormat, picture: Picture): Promise<void> {
  const plotly = await loadPlotly();
  const { data, layout } = structuredClone(dressed(picture.figure, picture.palette, picture.title));
  const size = { width: picture.width, height: picture.height + TITLE_PX };
  const painted = { ...layout, ...size, paper_bgcolor: picture.palette.page };
  const address = await plotly.toImage({ data, layout: painted }, { format, scale: 2, ...size });
  const link = document.createElement("a");
  link.href = address;
  link.download = `${fileName(picture.title)}.${format}`;
  link.click();
}

export function fileName(title: string): string {
  const safe = title.normalize("NFC").replace(/[^\p{L}\p{N}]+/gu, "-");
  return (
    safe
      .slice(0, 80)
      .replace(/^-+|-+$/g, "")
      .toLowerCase() || "chart"
  );
}
