// Runs before anything is painted, so that the page never flashes in the other theme.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("sandtable.theme");
  } catch {
    // Storage may be forbidden; the system's theme will do.
  }
  const dark =
    chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
