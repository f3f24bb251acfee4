const CSS = `
:host { all: initial; display: block; font: 14px/1.45 system-ui, sans-serif; color: #1f2937; }
* { box-sizing: border-box; }
.card { border: 1px solid #e5e7eb; border-radius: 10px; padding: 12px 14px; background: #fff; max-width: 48rem; }
.quiet { color: #6b7280; font-size: 12.5px; }
.row { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; }
.gap { margin-top: 10px; }
button, select { font: inherit; color: inherit; border: 1px solid #d1d5db; border-radius: 8px; background: #fff; padding: 5px 11px; cursor: pointer; }
button:hover:not(:disabled) { background: #f3f4f6; }
button:focus-visible, select:focus-visible { outline: 2px solid #2563eb; outline-offset: 1px; }
button:disabled { color: #6b7280; cursor: default; }
button.chip { border-radius: 999px; text-align: left; }
button[aria-selected="true"] { background: #1f2937; border-color: #1f2937; color: #fff; }
.state { display: inline-flex; gap: 7px; align-items: center; }
.dot { width: 9px; height: 9px; border-radius: 50%; background: #9ca3af; }
.dot.running { background: #2563eb; animation: beat 1s ease-in-out infinite; }
.dot.succeeded { background: #15803d; }
.dot.failed, .dot.rejected { background: #b91c1c; }
@keyframes beat { 50% { opacity: .35; } }
@media (prefers-reduced-motion: reduce) { .dot.running { animation: none; } }
.scroll { overflow: auto; max-height: 340px; border: 1px solid #e5e7eb; border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { padding: 5px 10px; text-align: left; white-space: nowrap; border-bottom: 1px solid #f3f4f6; }
th { position: sticky; top: 0; background: #f9fafb; font-weight: 600; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
td.none { color: #9ca3af; }
pre { margin: 0; padding: 10px 12px; background: #f9fafb; border-radius: 8px; overflow: auto; max-height: 340px; font: 12.5px/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
svg { display: block; width: 100%; height: auto; }
svg text { font: 11px system-ui, sans-serif; fill: #4b5563; }
svg .axis { stroke: #e5e7eb; stroke-width: 1; }
h4 { margin: 0 0 6px; font-size: 14px; }
`;

let made;

export function style() {
  if (!made) {
    made = new CSSStyleSheet();
    made.replaceSync(CSS);
  }
  return made;
}
