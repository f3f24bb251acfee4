// Two runs beside each other: what was asked of what data, how, and what came out.
import { useQuery } from "@tanstack/react-query";
import { ArrowLeftRight } from "lucide-react";
import { useSearchParams } from "react-router";
import type { RunView } from "~/api/model";
import { runQuery } from "~/api/queries";
import { Crumbs, Page, places } from "~/shell";
import { Button, classes, ErrorNote, SkeletonLines } from "~/ui";
import { CompareFacts } from "./compare_facts";
import { CompareResult } from "./compare_result";
import { CompareText } from "./compare_text";
import { RunPicker } from "./run_picker";
import { SideCard } from "./side_card";

export default function ComparePage() {
  const [parameters, setParameters] = useSearchParams();
  const [a, b] = [parameters.get("a") ?? "", parameters.get("b") ?? ""];
  const change = (next: { a: string; b: string }) =>
    setParameters((before) => {
      const after = new URLSearchParams(before);
      for (const [name, value] of Object.entries(next)) {
        if (value) after.set(name, value);
        else after.delete(name);
      }
      return after;
    });
  const swap = a && b && (
    <Button kind="quiet" onClick={() => change({ a: b, b: a })}>
      <ArrowLeftRight aria-hidden />
      Swap
    </Button>
  );
  return (
    <Page title="Compare runs" bar={<Crumbs to={places.runs} parent="Runs" title="Compare" />} actions={swap}>
      <div className="mx-auto max-w-6xl space-y-6 p-4 md:p-6">
        <div className={classes("grid gap-4 min-[900px]:grid-cols-2", !(a && b) && "items-start")}>
          <Side letter="A" runId={a} other={b} onPick={(runId) => change({ a: runId, b })} />
          <Side letter="B" runId={b} other={a} onPick={(runId) => change({ a, b: runId })} />
        </div>
        {a && b && <Both a={a} b={b} />}
      </div>
    </Page>
  );
}

interface SideProps {
  letter: "A" | "B";
  runId: string;
  other: string;
  onPick: (runId: string) => void;
}

function Side({ letter, runId, other, onPick }: SideProps) {
  const run = useQuery({ ...runQuery(runId), enabled: runId !== "" });
  if (!runId) return <RunPicker letter={letter} except={other} onPick={onPick} />;
  return (
    <section aria-label={`Run ${letter}`} className="min-w-0 rounded-md border p-4">
      {run.isPending && <SkeletonLines label={`Loading run ${letter}`} />}
      {run.error && (
        <ErrorNote error={run.error} onRetry={() => run.refetch()}>
          <Button size="small" onClick={() => onPick("")}>
            Choose another run
          </Button>
        </ErrorNote>
      )}
      {run.data && <SideCard letter={letter} run={run.data} onChange={() => onPick("")} />}
    </section>
  );
}

function Both({ a, b }: { a: string; b: string }) {
  const [first, second] = [useQuery(runQuery(a)).data, useQuery(runQuery(b)).data];
  if (!first || !second) return null;
  if (a === b) return <p className="text-ink-2">Both are the same run. Choose another one for A or B.</p>;
  return <Compared a={first} b={second} />;
}

function Compared({ a, b }: { a: RunView; b: RunView }) {
  return (
    <>
      <CompareResult a={a} b={b} />
      <CompareFacts a={a} b={b} />
      <CompareText a={a} b={b} />
    </>
  );
}
