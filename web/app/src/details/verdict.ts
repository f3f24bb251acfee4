// A text that is edited and what the gate says of it: one pure reducer. Only the answer about the newest text counts.
import type { VerdictView } from "~/api/model";
import type { Problem } from "~/api/problem";

/** A correction: the whole corrected SQL in `text`, or the whole corrected plan in `plan`. */
export type Fix = VerdictView["fixes"][number];

export type Phase =
  /** Nothing is known: the run was not judged. */
  | "unknown"
  | "typing"
  | "checking"
  | "approved"
  | "refused"
  /** Not sent: the text is no JSON. */
  | "unreadable"
  /** The check itself failed. */
  | "failed";

export interface CheckState {
  text: string;
  /** Counts the texts: an answer to an older one is dropped. */
  serial: number;
  phase: Phase;
  /** The last one, and the text it is about; kept while a newer text is checked, so that nothing jumps. */
  verdict: VerdictView | null;
  judged: string;
  problem: Problem | null;
}

export type CheckAction =
  | { type: "typed"; text: string }
  | { type: "again" }
  | { type: "started"; serial: number }
  | { type: "answered"; serial: number; verdict: VerdictView }
  | { type: "unreadable"; serial: number }
  | { type: "failed"; serial: number; problem: Problem }
  | { type: "reset"; text: string; verdict: VerdictView | null };

export function newCheck(text: string, verdict: VerdictView | null, serial = 0): CheckState {
  return { text, serial, phase: verdict?.verdict ?? "unknown", verdict, judged: text, problem: null };
}

export function reduceCheck(state: CheckState, action: CheckAction): CheckState {
  switch (action.type) {
    case "typed":
      if (action.text === state.text) return state;
      return { ...state, text: action.text, serial: state.serial + 1, phase: "typing" };
    case "again":
      return { ...state, serial: state.serial + 1, phase: "typing" };
    case "reset":
      return newCheck(action.text, action.verdict, state.serial + 1);
    default:
      return action.serial === state.serial ? answered(state, action) : state;
  }
}

function answered(state: CheckState, action: Extract<CheckAction, { serial: number }>): CheckState {
  switch (action.type) {
    case "started":
      return { ...state, phase: "checking" };
    case "answered": {
      const { verdict } = action;
      return { ...state, phase: verdict.verdict, verdict, judged: state.text, problem: null };
    }
    case "unreadable":
      return { ...state, phase: "unreadable", verdict: null, judged: state.text, problem: null };
    case "failed":
      return { ...state, phase: "failed", verdict: null, judged: state.text, problem: action.problem };
  }
}

/** What is said is about what is written. */
export function isSettled({ phase }: CheckState): boolean {
  return phase !== "typing" && phase !== "checking";
}

/** What was refused, or cannot be read, is not worth sending. */
export function mayRun(state: CheckState): boolean {
  return state.text.trim() !== "" && state.phase !== "refused" && state.phase !== "unreadable";
}
