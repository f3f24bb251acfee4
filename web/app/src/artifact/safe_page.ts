// A stranger's HTML, made ready for a frame in which nothing runs and nothing loads.
// The frame is the wall: what is removed here is removed so that nothing is even tried, as a browser may connect
// to the host of a `<link rel=preconnect>` whatever the policy says.

/** A policy inside the frame, beside the page's own, which the frame inherits. */
export const FRAME_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'";

const REMOVED =
  "script, noscript, iframe, frame, frameset, object, embed, applet, portal, fencedframe, base, meta, link, template";
const LOADING = [
  "src",
  "srcset",
  "poster",
  "background",
  "data",
  "action",
  "formaction",
  "ping",
  "manifest",
  "srcdoc",
];
const LINKING = ["href", "xlink:href"];

export interface Look {
  ink: string;
  page: string;
  line: string;
  font: string;
  dark: boolean;
}

export function safePage(html: string, look: Look): string {
  // What is inside a template belongs to no window: nothing in it runs or loads.
  const given = document.createElement("template");
  given.innerHTML = muted(html);
  for (const element of given.content.querySelectorAll(REMOVED)) element.remove();
  // Nothing can be sent: what was to be filled in is shown without its form.
  for (const form of given.content.querySelectorAll("form")) form.replaceWith(...form.childNodes);
  for (const element of given.content.querySelectorAll("*")) cleanAttributes(element);
  for (const style of given.content.querySelectorAll("style"))
    style.textContent = withoutLoads(style.textContent ?? "");
  return [
    '<!doctype html><html><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${FRAME_POLICY}">`,
    '<meta name="referrer" content="no-referrer"><meta http-equiv="x-dns-prefetch-control" content="off">',
    `<style>${ownStyle(html, look)}</style></head><body>${given.innerHTML}</body></html>`,
  ].join("");
}

/** Handlers would not run, but the browser would complain of each: it is not shown them. */
function muted(html: string): string {
  return html.replace(/<[a-z][^<>]*>/gi, (tag) => tag.replace(/([\s/"'])on(?=[a-z]+\s*=)/gi, "$1data-on"));
}

function cleanAttributes(element: Element): void {
  for (const { name, value } of [...element.attributes]) {
    if (name === "style") element.setAttribute(name, withoutLoads(value));
    else if (/^(?:data-)?on/.test(name) || name === "target" || name === "autofocus")
      element.removeAttribute(name);
    else if (LOADING.includes(name) && !isInside(value)) element.removeAttribute(name);
    else if (LINKING.includes(name) && !value.startsWith("#")) {
      element.removeAttribute(name);
      // Where it would have led can still be read.
      if (!element.hasAttribute("title")) element.setAttribute("title", value.slice(0, 200));
    }
  }
}

const withoutLoads = (css: string): string =>
  css.replace(/@import[^;]*;?/gi, "").replace(/url\((?!\s*["']?data:)[^)]*\)/gi, "none");

const isInside = (address: string): boolean => /^data:image\/(?:png|jpeg|gif|webp);/i.test(address.trim());

/** A page that brings colours was made for white paper; one that has none takes those of our page. */
function ownStyle(html: string, { ink, page, line, font, dark }: Look): string {
  const coloured = /\b(?:color|background|bgcolor)\b/i.test(html);
  const [paper, text, rule] = coloured ? ["white", "black", "#d0d0d0"] : [page, ink, line];
  return [
    `:root{color-scheme:${dark && !coloured ? "dark" : "light"};background:${paper};color:${text};`,
    `font:14px/20px ${font};font-variant-numeric:tabular-nums}`,
    "body{margin:12px}img{max-width:100%}",
    `table{border-collapse:collapse}th,td{border:1px solid ${rule};padding:4px 8px}`,
  ].join("");
}

const LEAST = 96;
const MOST = 480;

/** A guess, for nothing in the frame can tell: the person may pull it larger. */
export function heightFor(html: string): number {
  const count = (tags: RegExp) => html.match(tags)?.length ?? 0;
  const lines =
    count(/<tr\b/gi) * 30 + count(/<(?:p|h[1-6]|ul|ol|pre)\b/gi) * 40 + count(/<(?:li|br)\b/gi) * 22;
  const drawn = count(/<(?:img|svg|canvas)\b/gi) * 240;
  const words = Math.ceil(html.replace(/<[^<>]*>/g, "").trim().length / 90) * 20;
  return Math.min(MOST, Math.max(LEAST, 32 + Math.max(lines, words) + drawn));
}
