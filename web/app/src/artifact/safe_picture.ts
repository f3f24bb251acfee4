// SVG as an image: in one, scripts do not run, links lead nowhere and nothing is loaded.

export function pictureAddress(svg: string): string {
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(withNamespace(svg))}`;
}

/** As a part of a page SVG needs no namespace, as an image it does. */
function withNamespace(svg: string): string {
  const opening = /<svg\b[^>]*>/i.exec(svg)?.[0];
  if (!opening || /\sxmlns\s*=/.test(opening)) return svg;
  return svg.replace(opening, opening.replace(/^<svg/i, '<svg xmlns="http://www.w3.org/2000/svg"'));
}
