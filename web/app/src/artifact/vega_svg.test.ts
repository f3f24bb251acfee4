import { expect, test, vi } from "vitest";
import { vegaSvg } from "./vega_svg";

const look = {
  ink: "#111111",
  quiet: "#222222",
  line: "#333333",
  lineStrong: "#444444",
  font: "serif",
  series: ["#0000aa"],
  width: 400,
};
const values = [
  { a: "A", b: 28 },
  { a: "B", b: 55 },
];
const encoding = { x: { field: "a", type: "nominal" }, y: { field: "b", type: "quantitative" } };

test("a chart of its own data, in the page's colours", async () => {
  const svg = await vegaSvg({ data: { values }, mark: "bar", encoding }, look);
  expect(svg).toMatch(/^<svg/);
  expect(svg.match(/<path aria-label/g)).toHaveLength(2);
  expect(svg).toContain("#0000aa");
  expect(svg).toMatch(/width="400"/);
});

test("data from elsewhere is not loaded", async () => {
  const fetched = vi.spyOn(globalThis, "fetch");
  const spec = { data: { url: "https://x.example/rows.json" }, mark: "bar", encoding };
  await expect(vegaSvg(spec, look)).rejects.toThrow("another address");
  expect(fetched).not.toHaveBeenCalled();
});

test("a link does not reach the picture", async () => {
  const svg = await vegaSvg(
    { data: { values }, mark: { type: "bar", href: "https://x.example" }, encoding },
    look,
  );
  expect(svg).not.toContain("x.example");
});

test("expressions do not see the page", async () => {
  const spec = {
    data: { values },
    transform: [{ calculate: "window.document.title", as: "b" }],
    mark: "bar",
    encoding,
  };
  await expect(vegaSvg(spec, look)).rejects.toThrow();
});

test("nonsense is an error, not a picture", async () => {
  await expect(vegaSvg({ mark: 7, encoding: [] }, look)).rejects.toThrow();
});
