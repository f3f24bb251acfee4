// @vitest-environment node
// The layers of the interface: a folder imports only folders that stand below it, and none beside it.
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";

/** The highest first. Folders in one row do not import each other. */
const LAYERS = [
  ["frame"],
  ["ask", "threads", "details", "data", "runs", "boards", "people"],
  ["imports", "sharing", "keeping"],
  ["artifact"],
  ["chart", "result"],
  ["shell"],
  ["commands"],
  ["events", "ui"],
  ["format"],
  ["api"],
] as const;

/** These render nothing. */
const PURE = ["events", "format", "api"];
const RENDERERS = /^(react|react-dom|react-router|lucide-react|radix-ui|cmdk|@assistant-ui\/react)(\/|$)/;

const SRC = import.meta.dirname;

it("every folder has a place in the layers", () => {
  const folders = readdirSync(SRC, { withFileTypes: true }).filter((one) => one.isDirectory());
  expect(folders.map((one) => one.name).sort()).toEqual([...LAYERS.flat()].sort());
});

it("imports point down the layers", () => {
  const imports = allImports();
  expect(imports).toContainEqual({ file: "frame/sidebar.tsx", imported: "~/threads/list" });
  expect(imports.map(wrongIn).filter(Boolean)).toEqual([]);
});

it.each([
  ["api/rest.ts", "~/ui", "api imports ui"],
  ["api/rest.ts", "react", "api imports react"],
  ["events/reduce.ts", "~/shell/theme", "events imports shell"],
  ["chart/chart.tsx", "~/result/result", "chart imports result"],
  ["runs/page.tsx", "../ask/answer", "runs imports ask"],
  ["details/editor/index.tsx", "../../app", "details imports app"],
  ["details/editor/index.tsx", "../position", ""],
  ["ask/evidence.tsx", "~/chart/chart", ""],
  ["app.tsx", "./frame/frame", ""],
])("from %s, %s is judged: %s", (file, imported, wrong) => {
  expect(wrongIn({ file, imported })).toBe(wrong && `${file}: ${wrong}`);
});

interface Import {
  file: string;
  imported: string;
}

/** Those that wait for their first use (`import()`), too. */
function allImports(): Import[] {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((one) => /\.tsx?$/.test(one));
  return files.flatMap((file) => {
    const { importedFiles } = ts.preProcessFile(readFileSync(join(SRC, file), "utf8"), true, true);
    return importedFiles.map(({ fileName }) => ({ file, imported: fileName }));
  });
}

function wrongIn({ file, imported }: Import): string {
  const here = folderOf(file);
  if (here === "") return "";
  const rendered = PURE.includes(here) && RENDERERS.test(imported);
  const there = rendered ? imported : targetOf(file, imported);
  if (there === null || there === here) return "";
  return !rendered && rank(there) > rank(here) ? "" : `${file}: ${here} imports ${there}`;
}

/** The folder of ours that is imported; a file that is in none goes by its name. */
function targetOf(file: string, imported: string): string | null {
  if (imported.startsWith("~/")) return imported.split("/")[1] ?? null;
  if (!imported.startsWith(".")) return null;
  const path = posix.join(posix.dirname(file), imported);
  return folderOf(path) || path;
}

const folderOf = (path: string): string => (path.includes("/") ? (path.split("/")[0] ?? "") : "");

const rank = (folder: string): number =>
  LAYERS.findIndex((row) => (row as readonly string[]).includes(folder));
