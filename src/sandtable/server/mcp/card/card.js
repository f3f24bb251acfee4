// The answer card: shows what a tool gave, and lets a person verify it through the host.
import { h } from "./element.js";
import { connect } from "./host.js";
import { chart, choices, evidence, links, problem, sentence, table } from "./parts.js";

const FIGURE = "sandtable/figure";

export function begin(place, view) {
  const show = (...parts) => { place.replaceChildren(...parts.flat().filter(Boolean)); resized(); };
  const listeners = {
    greeted: ({ hostContext }) => dress(hostContext),
    "ui/notifications/host-context-changed": dress,
    "ui/notifications/tool-input": ({ arguments: given }) => { if (!place.childElementCount) show(waiting(given)); },
    "ui/notifications/tool-result": (result) => show(answered(result)),
    "ui/notifications/tool-cancelled": () => show(h("p", { className: "quiet" }, "The call was cancelled.")),
  };
  const host = connect(view, listeners);

  function resized() {
    host.notify("ui/notifications/size-changed", { height: Math.ceil(view.document.documentElement.getBoundingClientRect().height) });
  }

  function dress(context) {
    const root = view.document.documentElement;
    if (context?.theme) root.style.colorScheme = context.theme;
    for (const [name, value] of Object.entries(context?.styles?.variables || {})) {
      if (name.startsWith("--") && value) root.style.setProperty(name, value);
    }
  }

  const waiting = (given) => h("p", { className: "quiet" }, given?.question || "Working on it…");

  function answered(result) {
    const given = result.structuredContent;
    if (!given) return plain(result);
    const answers = given.thread_id ? [given, ...(given.others || [])] : [{ run: given }];
    return answers.map((answer, i) => {
      const run = answer.run;
      return [sentence(answer, run), choices(answer), chart(i ? null : result._meta?.[FIGURE]), table(run),
        evidence(answer, run), run?.capsule_uri && proof(run)];
    }).flat();
  }

  function plain(result) {
    const words = (result.content || []).filter((part) => part.type === "text").map((part) => part.text).join("\n");
    return [h("p", { className: result.isError ? "sentence error" : "sentence" }, words)];
  }

  function proof(run) {
    const report = h("div", null);
    const button = h("button", { type: "button", onclick: verify }, "Verify");
    async function verify() {
      button.disabled = true;
      report.replaceChildren(h("p", { className: "quiet", role: "status" }, "Deriving it again…"));
      try {
        const found = await host.request("tools/call", { name: "verify_run", arguments: { run_id: run.run_id } });
        if (found.isError || !found.structuredContent) report.replaceChildren(...plain(found));
        else report.replaceChildren(links(found.structuredContent));
      } catch (error) {
        report.replaceChildren(problem({ code: "The host", message: error.message }));
      }
      button.disabled = false;
      resized();
    }
    return h("section", { "data-part": "proof" }, h("div", { className: "row" }, button, h("span", { className: "quiet" }, run.run_id)), report);
  }

  place.addEventListener("toggle", resized, true);
  return host.greet().catch((error) => show(problem({ code: "The host", message: error.message })));
}
