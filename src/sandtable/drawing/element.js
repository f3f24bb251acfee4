// Makes elements. Text is only ever put in as text: nothing that comes from data is read as HTML.
const SVG = new Set(["svg", "rect", "circle", "path", "line", "text", "g"]);
const NAMESPACE = "http://www.w3.org/2000/svg";
const HYPHENATED = { textAnchor: "text-anchor", strokeWidth: "stroke-width", fillOpacity: "fill-opacity", className: "class" };

export function h(type, props, ...children) {
  const drawn = SVG.has(type);
  const made = drawn ? document.createElementNS(NAMESPACE, type) : document.createElement(type);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false || name === "key") continue;
    if (name === "style") Object.assign(made.style, value);
    else if (name === "onclick") made.addEventListener("click", value);
    else made.setAttribute(HYPHENATED[name] || name, value === true ? "" : String(value));
  }
  for (const child of children.flat(9)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    made.append(child.nodeType ? child : String(child));
  }
  // A title in a drawing is an element of the drawing.
  if (type === "title") {
    const title = document.createElementNS(NAMESPACE, "title");
    title.append(...made.childNodes);
    return title;
  }
  return made;
}
