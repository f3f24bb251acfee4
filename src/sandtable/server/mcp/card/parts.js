// The parts of the card: each is made from what a tool gave, or is null.
import { h } from "./element.js";
import { drawing } from "./chart.js";
import { isNumeric, shown } from "./format.js";
import { marked } from "./marked.js";

const MOST_ROWS = 200;
const STATUS = { ok: "ok", broken: "broken", not_checked: "not checked", not_pinned: "not pinned", reading: "for a person to check" };

export function sentence(answer, run) {
  const words = answer.message || (run ? `The run is ${run.status}.` : "");
  return h("section", { "data-part": "sentence" },
    h("p", { className: "sentence" }, marked(h, words)),
    answer.reading && h("p", { className: "quiet" }, "Read as: ", marked(h, answer.reading)),
    problem(answer.error || run?.error), run?.withheld && h("p", { className: "quiet" }, run.withheld));
}

export const problem = (error) =>
  error ? h("p", { className: "error" }, `${error.code}: ${error.message} ${error.suggestion || ""}`) : null;

export function choices(answer) {
  if (!answer.choices?.length) return null;
  return h("section", { "data-part": "choices" }, h("p", { className: "quiet" }, "What may be meant:"),
    h("ul", null, answer.choices.map((each) => h("li", null, each))));
}

export function chart(figure) {
  const drawn = figure ? drawing(h, figure) : null;
  return drawn ? h("section", null, drawn) : null;
}

// One value needs no table beside its sentence.
export function table(run) {
  const { columns = [], rows = [] } = run || {};
  if (!columns.length) return null;
  const side = (column) => (isNumeric(column) ? "number" : null);
  const listed = rows.slice(0, MOST_ROWS);
  const counted = run.row_count > listed.length ? `${listed.length} of ${run.row_count} rows` : `${run.row_count} rows`;
  return h("section", { "data-part": "table" },
    h("div", { className: "scroll", tabindex: "0", role: "region", "aria-label": "The rows" }, h("table", null,
      h("thead", null, h("tr", null, columns.map((column) => h("th", { className: side(column), scope: "col" }, column.name)))),
      h("tbody", null, listed.map((row) => h("tr", null, row.map((cell, i) => h("td", { className: side(columns[i]) }, shown(cell, columns[i])))))))),
    h("p", { className: "quiet" }, run.row_count === 1 ? "1 row" : counted, run.truncated && " (the query had more)"));
}

export function evidence(answer, run) {
  if (!run && !answer.pending_sql) return null;
  const sql = run?.sql || answer.pending_sql, printed = run?.stdout;
  return h("section", { "data-part": "evidence" }, h("details", null, h("summary", null, "How it came about"),
    run && h("p", { className: "quiet" }, `Dataset ${run.dataset_id}, version ${run.dataset_version}`,
      run.exec_time_ms ? `, ${Math.round(run.exec_time_ms)} ms` : ""),
    sql && h("pre", null, sql), printed && h("pre", null, printed)));
}

export function links(report) {
  const word = report.ok ? "Verified: nothing is broken." : "Something is broken.";
  return h("div", { "data-part": "report", role: "status" }, h("p", { className: report.ok ? "ok" : "broken" }, h("b", null, word)),
    h("ul", null, report.links.map((link) => h("li", { className: link.status },
      `${link.name}: ${STATUS[link.status] || link.status}`, link.detail && h("span", { className: "quiet" }, ` ${link.detail}`)))));
}
