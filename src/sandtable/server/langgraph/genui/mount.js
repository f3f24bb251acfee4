// One component of the chat page: this module's own address says which, and where it belongs.
// The page offers React and a store by symbol; nothing is bundled and nothing is loaded from elsewhere.
import { components } from "./components.js";
import { style } from "./style.js";

export function mount(address) {
  const asked = new URL(address).searchParams;
  const id = asked.get("id");
  const component = components[asked.get("name")];
  const root = document.getElementById(id)?.shadowRoot;
  if (!root || !component) return;
  root.adoptedStyleSheets = [style()];
  const target = document.createElement("div");
  root.appendChild(target);
  window[Symbol.for("LGUI_EXT_STORE")].respond(id, component, target);
}
