// A plan or SQL that a person edits, with the gate's verdict on it as they type.
import { useCallback, useEffect, useEffectEvent, useReducer, useRef } from "react";
import type { RunView, VerdictView } from "~/api/model";
import { Problem, problemOf } from "~/api/problem";
import { checkPlan, checkSql } from "~/api/rest";
import { planText, readPlan } from "./plan_text";
import { editorPosition, editorText } from "./position";
import { type CheckState, newCheck, reduceCheck } from "./verdict";

export interface Draft {
  state: CheckState;
  edited: boolean;
  edit: (text: string) => void;
  reset: () => void;
  checkAgain: () => void;
}

type Check = (text: string, signal: AbortSignal) => Promise<VerdictView> | null;

const PATIENCE_MS = 250;

export function useSqlDraft(run: RunView): Draft {
  const original = editorText(run.sql ?? "");
  return useDraft(original, run.sql === null ? null : verdictOf(run), (text, signal) =>
    checkSql(run.dataset_id, text, signal),
  );
}

export function usePlanDraft(run: RunView): Draft {
  const original = run.plan ? planText(run.plan) : "";
  return useDraft(original, run.plan ? verdictOf(run) : null, (text, signal) => {
    const plan = readPlan(text);
    return plan && checkPlan(run.dataset_id, plan, signal);
  });
}

function useDraft(original: string, verdict: VerdictView | null, check: Check): Draft {
  const [state, dispatch] = useReducer(reduceCheck, newCheck(original, verdict));
  const known = useRef(original);
  const { text, serial, phase } = state;

  // A run under way gets its SQL and verdict later; what a person has typed by then is not taken away.
  const told = useEffectEvent(() => {
    if (text === known.current) dispatch({ type: "reset", text: original, verdict });
    known.current = original;
  });
  const decision = verdict?.verdict;
  // biome-ignore lint/correctness/useExhaustiveDependencies: they say when the run has come further
  useEffect(() => told(), [original, decision]);

  const asked = useEffectEvent(async (signal: AbortSignal) => {
    const answer = check(text, signal);
    if (!answer) return dispatch({ type: "unreadable", serial });
    dispatch({ type: "started", serial });
    try {
      dispatch({ type: "answered", serial, verdict: await answer });
    } catch (thrown) {
      if (!signal.aborted) dispatch({ type: "failed", serial, problem: problemOf(thrown) });
    }
  });
  const due = phase === "typing" ? serial : null;
  const abort = useRef<AbortController | null>(null);
  useEffect(() => {
    if (due === null) return;
    abort.current?.abort();
    const controller = new AbortController();
    abort.current = controller;
    const timer = setTimeout(() => asked(controller.signal), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [due]);
  useEffect(() => () => abort.current?.abort(), []);

  const edit = useCallback((next: string) => dispatch({ type: "typed", text: editorText(next) }), []);
  return {
    state,
    edited: text !== original,
    edit,
    reset: () => dispatch({ type: "reset", text: original, verdict }),
    checkAgain: () => dispatch({ type: "again" }),
  };
}

/** What the gate said when the run was made, in the shape of a verdict that is asked for now. */
export function verdictOf(run: RunView): VerdictView | null {
  const { verdict, error } = run;
  if (verdict?.decision === "approved") return approvalOf(run);
  if (run.status !== "rejected" || !error) return null;
  const place = verdict?.position;
  return {
    verdict: "refused",
    tables: [],
    functions: [],
    warnings: [],
    volatile: [],
    code: error.code,
    construct: verdict?.construct ?? "",
    message: verdict?.message || error.message,
    suggestion: verdict?.suggestion || error.suggestion,
    position: typeof place === "number" ? editorPosition(run.sql ?? "", place) : null,
    length: verdict?.length ?? 0,
    details: error.details ?? {},
    fixes: run.fixes,
  };
}

function approvalOf({ verdict, executed_sql }: RunView): VerdictView | null {
  if (verdict?.decision !== "approved") return null;
  const { tables, functions, warnings, volatile } = verdict;
  return { verdict: "approved", sql: executed_sql, tables, functions, warnings, volatile, fixes: [] };
}

export const UNREADABLE = new Problem({
  code: "VALIDATION_ERROR",
  message: "The plan is not valid JSON.",
  suggestion: "At the underlined place a comma, a quote or a bracket is missing, or is one too many.",
});
