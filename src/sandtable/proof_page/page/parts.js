// What a page shows of an answer: each part is made from what was checked, or is null.
import { h } from "./element.js";
import { drawing } from "./chart.js";
import { isNumeric, shown } from "./format.js";
import { marked } from "./marked.js";
import { isBroken } from "./checks.js";
import { PROVES, PROVES_NOT, SIGNER, STATES, elsewhere, nameOf, provesOf } from "./words.js";

export function verdict(records, page) {
  const every = [...records.flatMap(({ links }) => links), ...page.links];
  const broken = [...new Set(every.filter(({ status }) => status === "broken").map(({ name }) => nameOf(name)))];
  if (broken.length) {
    return h("div", { className: "verdict broken", role: "alert", "data-state": "broken" }, h("b", null, "Do not rely on this page. "),
      `Something was changed after it was signed. Broken: ${broken.join(", ")}.`);
  }
  const keys = [...new Set([page, ...records].map(({ keyid }) => keyid))];
  if (every.some(({ name, status }) => name === "signature" && status !== "ok")) {
    return h("div", { className: "verdict unsure", role: "status", "data-state": "unsigned" }, h("b", null, "Checked in part. "),
      ...ticked("This browser cannot check Ed25519 signatures. Every part that has a digest fits it, but who changes a part can change its digest as well. A newer browser, or `sandtable verify FILE`, checks the signatures."));
  }
  if (keys.length > 1) {
    return h("div", { className: "verdict unsure", role: "status", "data-state": "keys" }, h("b", null, "Signed with several keys. "),
      "Nothing was changed since it was signed, but the words of this page and its records were not all signed with the same key: ", keys.map((key, i) => [i ? ", " : "", h("code", null, key)]), ". Check whose keys they are.");
  }
  const count = records.length === 1 ? "1 record" : `${records.length} records`;
  return h("div", { className: "verdict ok", role: "status", "data-state": "ok" }, h("b", null, "Checked. "),
    `Nothing was changed since it was signed with the key `, h("code", null, keys[0].slice(0, 16)), `… (${count}, checked in this browser, without the network).`);
}

export function answer(said, records, number) {
  const [main, ...others] = records, fields = main?.fields;
  return h("article", { "data-answer": number },
    h("h2", null, said.question || fields?.question || "A query"),
    said.sentence && h("p", { className: "sentence", "data-part": "sentence" }, marked(h, said.sentence)),
    said.reading && h("p", { className: "quiet", "data-part": "reading" }, "Read as: ", marked(h, said.reading)),
    fields && [failure(fields), chart(fields.chart), shownTable(fields) ? null : table(fields.result, said.columns), printed(fields), artifacts(fields, said.columns), origin(fields), evidence(fields)],
    records.map((record, i) => proof(record, i ? `Another run that the answer rests on, ${i + 1} of ${others.length + 1}` : "Proof")),
    said.note && h("p", { className: "quiet", "data-part": "note" }, said.note),
    records.length === 0 && !said.note && h("p", { className: "quiet" }, "Nothing was run for this answer, so there is nothing to prove."));
}

function failure(fields) {
  if (fields.status === "succeeded") return null;
  const { message = "", suggestion = "" } = fields.error || {};
  return h("p", { className: "failed" }, h("b", null, `The run is ${fields.status}. `), `${message} ${suggestion}`.trim());
}

function chart(figure) {
  if (!figure) return null;
  let drawn = null;
  try {
    drawn = drawing(h, figure);
  } catch (error) {
    return h("p", { className: "quiet" }, `The chart cannot be drawn here: ${error.message}`);
  }
  return drawn ? h("section", { className: "chart", "data-part": "chart" }, drawn) : h("p", { className: "quiet" }, "This kind of chart is not drawn here; its figure is in the record below.");
}

function table(result, said) {
  if (!result || !result.columns.length) return null;
  const columns = result.columns.map((column, i) => ({ ...column, ...(said?.[i] || {}) }));
  const side = (column) => (isNumeric(column) ? "number" : null);
  const count = result.row_count === 1 ? "1 row" : `${result.row_count.toLocaleString("en")} rows`;
  const kept = result.rows_complete ? count : `the first ${result.rows.length.toLocaleString("en")} of ${count}`;
  return h("section", { "data-part": "table" },
    h("div", { className: "scroll", tabindex: "0", role: "region", "aria-label": "The rows" }, h("table", null,
      h("thead", null, h("tr", null, columns.map((column) => h("th", { className: side(column), scope: "col" }, column.name)))),
      h("tbody", null, result.rows.map((row) => h("tr", null, row.map((cell, i) => cellOf(cell, columns[i], side))))))),
    h("p", { className: "quiet" }, kept[0].toUpperCase() + kept.slice(1), result.truncated && "; the query had more", "."));
}

// The cell as it is recorded is its tooltip.
function cellOf(cell, column, side) {
  const made = h("td", { className: side(column) }, shown(cell, column));
  made.title = typeof cell === "string" ? cell : JSON.stringify(cell);
  return made;
}

const printed = ({ stdout }) => (stdout ? h("section", null, h("p", { className: "quiet" }, "Printed:"), h("pre", null, stdout)) : null);

// The result of code is the last table that it showed, where that was kept whole.
const shownTable = (fields) => (fields.artifacts || []).findLast(({ kind, artifact }) => kind === "table" && artifact);

function artifacts(fields, columns) {
  const last = shownTable(fields);
  return (fields.artifacts || []).map((record) => {
    const { kind, title, artifact } = record, head = title && h("h3", null, title);
    if (artifact && kind === "table") return [head, table({ ...artifact, rows_complete: true }, record === last ? columns : null)];
    if (artifact && kind === "markdown" && typeof artifact.text === "string") return [head, h("p", { className: "sentence" }, marked(h, artifact.text))];
    if (artifact?.format === "plotly") return [head, chart(artifact.figure)];
    return [head, h("p", { className: "quiet" }, `The code showed something of the kind ${kind}, which this page does not draw${artifact ? "; it is in the record below" : ""}.`)];
  });
}

function origin(fields) {
  const by = { builtin: "the built-in planner", "builtin-reader": "the built-in planner, with parts that are only likely" };
  const proposer = fields.origin?.proposer;
  const asked = fields.asked_by?.kind === "person" ? ` Asked by ${fields.asked_by.name}.` : "";
  return h("p", { className: "quiet" }, `Run ${fields.run_id} on dataset ${fields.dataset_id}, ${momentOf(fields.finished_at)}.`,
    proposer ? ` Proposed by ${by[proposer] || proposer}.` : "", asked);
}

const momentOf = (text) => String(text).replace("T", " ").replace(/\.\d+/, "").replace("Z", " UTC");

function evidence(fields) {
  const sql = fields.executed_sql || fields.sql, plan = fields.plan && JSON.stringify(fields.plan, null, 2);
  return h("details", { "data-part": "evidence" }, h("summary", null, "How it came about"),
    plan && [h("h3", null, "Plan"), h("pre", null, plan)],
    sql && [h("h3", null, fields.executed_sql ? "SQL that ran" : "SQL that did not run"), h("pre", null, sql)],
    fields.python && [h("h3", null, "Python"), h("pre", null, fields.python)],
    h("h3", null, "Where"),
    h("dl", null,
      fact("Data version", fields.dataset_version), fact("Engine", fields.engine),
      fact("Gate", fields.verdict ? `${fields.verdict.decision}${fields.verdict.message ? `: ${fields.verdict.message}` : ""}` : "not asked"),
      fact("Sandbox", (fields.isolation || []).join(", ") || "not entered"), fact("Time", `${Number(fields.exec_time_ms).toFixed(1)} ms`)));
}

const fact = (name, value) => [h("dt", null, name), h("dd", null, value)];

function proof(record, title) {
  const { links, fields } = record;
  const word = isBroken(links) ? "broken" : "what was checked";
  const whole = fields && h("details", { className: "inner", "data-part": "capsule" }, h("summary", null, "The whole record"), h("pre", null, JSON.stringify(fields, null, 2)));
  return h("details", { "data-part": "proof", open: isBroken(links) }, h("summary", null, `${title}: ${word}`),
    listOf([...links.map(row), ...elsewhere(fields).map(([name, status, text]) => item(name, status, text))]), whole);
}

export const listOf = (items) => h("ul", { className: "links" }, items);

export function row({ name, status, detail }) {
  const text = name === "signer" ? [ticked(SIGNER), h("code", null, detail)] : status === "ok" ? provesOf(name) : detail;
  return item(nameOf(name), status, text, name);
}

function item(name, status, text, key = "elsewhere") {
  const [mark, word] = STATES[status];
  return h("li", { className: status, "data-link": key, "data-state": status }, h("span", { className: "mark", "aria-hidden": "true" }, mark),
    h("span", { className: "name" }, name), h("span", { className: "state" }, word), h("span", { className: "text" }, typeof text === "string" ? ticked(text) : text));
}

// Commands between backticks; the texts are this program's own.
export const ticked = (text) => text.split(/(`[^`]+`)/).map((part) => (part.startsWith("`") ? h("code", null, part.slice(1, -1)) : part));

export function limits() {
  const list = (title, texts) => h("section", null, h("h3", null, title), h("ul", null, texts.map((text) => h("li", null, ticked(text)))));
  return h("section", { className: "limits", "data-part": "limits" }, list("What this page proves", PROVES), list("What it does not prove", PROVES_NOT));
}
