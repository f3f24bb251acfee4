import { useMemo, useState } from "react";
import type { RunView } from "~/api/model";
import { pythonOf } from "~/artifact/python_of";
import { count } from "~/format";
import { classes, Tabs } from "~/ui";
import { clauseLines, type DiffLine, lineDiff } from "./line_diff";

interface Pair {
  a: RunView;
  b: RunView;
}

export function CompareText({ a, b }: Pair) {
  const [shown, setShown] = useState("sql");
  const written = useMemo(() => lineDiff(textOf(a), textOf(b)), [a, b]);
  const python = pythonOf(a) !== null || pythonOf(b) !== null;
  const ran = python ? { title: "Code", what: "code" } : { title: "SQL", what: "SQL" };
  const plan = useMemo(() => lineDiff(planText(a), planText(b)), [a, b]);
  const planned = a.plan || b.plan;
  return (
    <section aria-label="What ran">
      <h2 className="mb-2 font-medium">What ran</h2>
      {planned ? (
        <Tabs
          label="What ran"
          value={shown}
          onChange={setShown}
          className="rounded-md border"
          tabs={[
            { id: "sql", title: ran.title, content: <Diff of={written} what={ran.what} /> },
            { id: "plan", title: "Plan", content: <Diff of={plan} what="plan" /> },
          ]}
        />
      ) : (
        <div className="rounded-md border">
          <Diff of={written} what={ran.what} />
        </div>
      )}
    </section>
  );
}

/** Python has its own lines. */
const textOf = (run: RunView): string => pythonOf(run) ?? clauseLines(run.sql ?? "");

const planText = (run: RunView) => (run.plan ? JSON.stringify(run.plan, null, 2) : "");

const LOOKS: Readonly<Record<DiffLine["kind"], { sign: string; spoken: string; look: string }>> = {
  same: { sign: " ", spoken: "", look: "" },
  removed: { sign: "A", spoken: "only in A: ", look: "bg-warning-soft" },
  added: { sign: "B", spoken: "only in B: ", look: "bg-accent-soft" },
};

function Diff({ of, what }: { of: readonly DiffLine[]; what: string }) {
  const differing = of.filter(({ kind }) => kind !== "same").length;
  // A line has no other name than its place.
  const lines = of.map((line, place) => ({ ...line, id: place }));
  return (
    <div>
      <p className="border-b px-3 py-1.5 text-ink-2 text-small">
        {differing === 0
          ? `The ${what} is the same in both.`
          : `${count(differing, "line")} differ${differing === 1 ? "s" : ""}.`}
      </p>
      <section
        aria-label={`Differences of the ${what}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        className="max-h-[480px] overflow-auto py-1 font-mono text-[13px] leading-5"
      >
        <div className="w-max min-w-full">
          {lines.map(({ id, kind, text }) => (
            <div key={id} className={classes("flex whitespace-pre", LOOKS[kind].look)}>
              <span aria-hidden className="w-8 shrink-0 select-none text-center text-ink-3">
                {LOOKS[kind].sign}
              </span>
              <span className="pr-3">
                <span className="sr-only">{LOOKS[kind].spoken}</span>
                {text || " "}
              </span>
            </div>
          ))}
        </div>
      </section>
    </div>
  );
}
