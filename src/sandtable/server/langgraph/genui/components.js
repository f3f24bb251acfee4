// What the chat shows beyond text: a greeting, the state of a run, and an answer with its details.
import { drawing } from "./chart.js";
import { isNumeric, shown } from "./format.js";

const offered = window[Symbol.for("LGUI_REQUIRE")];
const React = offered("react");
const { useStreamContext } = offered("@langchain/langgraph-sdk/react-ui");
const h = React.createElement;

const STATES = { pending: "waiting", running: "running", succeeded: "done", failed: "failed", rejected: "refused by the gate", cancelled: "stopped" };

function asker(stream) {
  return (question) => stream.submit({ messages: [{ type: "human", content: question }] }, { streamMode: ["values"] });
}

function Chips({ questions, part }) {
  const stream = useStreamContext();
  const ask = asker(stream);
  if (!questions?.length) return null;
  return h("div", { className: "row", "data-part": part }, questions.map((question) =>
    h("button", { key: question, className: "chip", disabled: stream.isLoading, onClick: () => ask(question) }, question)));
}

function welcome({ datasets, dataset_id, prompts }) {
  const chosen = datasets.find((d) => d.id === dataset_id) || datasets[0];
  const go = (id) => window.location.assign(`/chat/?assistantId=${encodeURIComponent(id)}`);
  return h("div", { className: "card", "data-part": "welcome" },
    h("label", { className: "row" }, "Dataset",
      h("select", { value: dataset_id, onChange: (event) => go(event.target.value), "data-part": "dataset" },
        datasets.map((d) => h("option", { key: d.id, value: d.id }, d.title || d.id)))),
    h("div", { className: "quiet gap" }, chosen?.description),
    h("div", { className: "gap" }, h(Chips, { questions: prompts, part: "prompts" })));
}

function progress({ stage, status }) {
  return h("div", { className: "state quiet", role: "status", "data-part": "progress", "data-status": status },
    h("span", { className: `dot ${status || "running"}` }), stage || STATES[status] || "working");
}

function Rows({ columns, rows, row_count, truncated }) {
  const kinds = columns.map((c) => (isNumeric(c) ? "number" : ""));
  const left = (row_count ?? rows.length) - rows.length;
  return h("div", null,
    h("div", { className: "scroll", tabIndex: 0 }, h("table", null,
      h("thead", null, h("tr", null, columns.map((c, i) => h("th", { key: i, className: kinds[i], title: c.type }, c.name)))),
      h("tbody", null, rows.map((row, r) => h("tr", { key: r }, row.map((cell, i) =>
        h("td", { key: i, className: cell === null ? "none" : kinds[i] }, shown(cell, columns[i])))))))),
    h("div", { className: "quiet" }, left > 0 ? `${left} more rows in the run's record` : null,
      truncated ? " The result was cut at the row limit." : null));
}

function Logs({ logs, stats, run_id, status }) {
  const times = Object.entries(stats || {}).map(([name, value]) => `${name.padEnd(18)} ${Number(value).toFixed(2)}`);
  return h("pre", null, [`run     ${run_id}`, `status  ${STATES[status] || status || ""}`, ...[logs || []].flat(), ...times].join("\n"));
}

const VIEWS = [
  ["Table", (p) => p.columns?.length && h(Rows, p)],
  ["Plan", (p) => p.plan && h("pre", null, JSON.stringify(p.plan, null, 2))],
  ["SQL", (p) => p.sql && h("pre", null, p.sql)],
  ["Logs", (p) => p.run_id && h(Logs, p)],
];

const SOURCES = {
  likely: "as in the answer before",
  kept: "kept from the answer before",
  chosen: "chosen by you",
  default: "no word asks for it",
};
const listed = (words) => words.map((one) => `“${one.text}”`).join(", ");
const sourceOf = ({ source, words }) =>
  (source === "likely" ? "likely, to be checked: " : "") + (listed(words) || SOURCES[source]);

const MARKS = {
  defined: "defined: only declared metrics and columns",
  read_literally: "read literally: every word is bound by the built-in planner",
  proposed_by_model: "proposed by a model",
};

function Reading({ parts, aside, unread, trust }) {
  return h("div", { className: "quiet", "data-part": "reading" }, "Read as:",
    h("ul", null, parts.map((part, at) =>
      h("li", { key: at }, `${part.kind}: ${part.label} (${sourceOf(part)})`))),
    trust.length > 0 && h("div", null, trust.map((mark) => MARKS[mark]).join("; ")),
    unread.length > 0 && h("div", null, `In no part of it: ${listed(unread)}`),
    aside.length > 0 && h("div", null, `Left aside: ${listed(aside)}`));
}

function Details(props) {
  const views = VIEWS.map(([name, view]) => [name, view(props)]).filter(([, made]) => made);
  const [open, setOpen] = React.useState(views[0]?.[0]);
  return h("div", { className: "gap", "data-part": "details" },
    props.read_as ? h(Reading, props.read_as) : props.reading && h("div", { className: "quiet" }, `Read as: ${props.reading}`),
    h("div", { className: "row gap", role: "tablist" }, views.map(([name]) =>
      h("button", { key: name, role: "tab", "aria-selected": name === open, onClick: () => setOpen(name) }, name))),
    h("div", { className: "gap", role: "tabpanel" }, views.find(([name]) => name === open)?.[1]));
}

function answer(props) {
  const [open, setOpen] = React.useState(false);
  return h("div", { className: "card", "data-part": "answer", "data-run": props.run_id },
    drawing(h, props.figure),
    h("div", { className: props.figure ? "row gap" : "row" },
      h("button", { "aria-expanded": open, onClick: () => setOpen(!open), "data-part": "show-details" }, open ? "Hide details" : "Show details"),
      props.run_id && h("a", { className: "quiet", href: `/runs/${encodeURIComponent(props.run_id)}`, target: "_blank", rel: "noreferrer" }, props.run_id)),
    open && h(Details, props),
    h("div", { className: "gap" }, h(Chips, { questions: props.suggestions, part: "suggestions" })));
}

export const components = { welcome, progress, answer };
