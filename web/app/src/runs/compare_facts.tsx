import type { ReactNode } from "react";
import type { RunView } from "~/api/model";
import { count, duration, NONE } from "~/format";
import { stepsOf, wholeMs } from "./run_words";

interface Pair {
  a: RunView;
  b: RunView;
}

/** What the two runs read and what they took, line by line. */
export function CompareFacts({ a, b }: Pair) {
  const [stepsA, stepsB] = [stepsOf(a.stats), stepsOf(b.stats)];
  const titles = [...new Set([...stepsA, ...stepsB].map((step) => step.title))];
  const whole = (run: RunView) => duration(run.finished_at ? wholeMs(run, 0) : null);
  const rows = (run: RunView) =>
    run.row_count === null ? NONE : `${count(run.row_count, "row")}${run.truncated ? ", cut off" : ""}`;
  const step = (steps: typeof stepsA, title: string) =>
    duration(steps.find((one) => one.title === title)?.ms);
  return (
    <section aria-label="Data and time">
      <h2 className="mb-2 font-medium">Data and time</h2>
      <div className="overflow-auto rounded-md border">
        <table className="w-full">
          <thead>
            <tr className="border-b bg-panel text-ink-2">
              <td className="px-3 py-1.5" />
              <th scope="col" className="px-3 py-1.5 text-right font-medium">
                A
              </th>
              <th scope="col" className="px-3 py-1.5 text-right font-medium">
                B
              </th>
            </tr>
          </thead>
          <tbody>
            <Line name="Dataset" a={a.dataset_id} b={b.dataset_id} compared />
            <Line
              name="Data version"
              a={<Digest of={a} />}
              b={<Digest of={b} />}
              same={a.dataset_version === b.dataset_version}
              compared
            />
            <Line name="Rows" a={rows(a)} b={rows(b)} compared />
            <Line name="From start to end" a={whole(a)} b={whole(b)} />
            {titles.map((title) => (
              <Line key={title} name={title} a={step(stepsA, title)} b={step(stepsB, title)} inner />
            ))}
            <Line
              name="Answered from an earlier run"
              a={a.cached_from ? "yes" : "no"}
              b={b.cached_from ? "yes" : "no"}
            />
          </tbody>
        </table>
      </div>
    </section>
  );
}

const Digest = ({ of }: { of: RunView }) => (
  <code className="font-mono text-[13px]" title={of.dataset_version}>
    {of.dataset_version.replace(/^sha256:/, "").slice(0, 10)}
  </code>
);

interface LineProps {
  name: string;
  a: ReactNode;
  b: ReactNode;
  /** Whether a difference of it is worth saying. */
  compared?: boolean;
  same?: boolean;
  inner?: boolean;
}

function Line({ name, a, b, compared = false, same = a === b, inner = false }: LineProps) {
  return (
    <tr className="border-b last:border-0">
      <th scope="row" className={`px-3 py-1.5 text-left font-normal text-ink-2 ${inner ? "pl-7" : ""}`}>
        {name}
        {compared && (
          <span className="text-small">
            {same ? (
              <span className="text-ink-3"> · same</span>
            ) : (
              <span className="text-warning"> · differs</span>
            )}
          </span>
        )}
      </th>
      <td className="whitespace-nowrap px-3 py-1.5 text-right">{a}</td>
      <td className="whitespace-nowrap px-3 py-1.5 text-right">{b}</td>
    </tr>
  );
}
