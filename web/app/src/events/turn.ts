// One question and all that is known of its answer so far.
import type { Ending, Figure, Offer, PlanJson, ReadAs, ResultColumn, Row, RunStatus } from "~/api/model";
import type { ProblemBody } from "~/api/problem";
import type { Artifact } from "./artifact";
import type { Step } from "./steps";

export interface TurnRun {
  id: string;
  status: RunStatus;
  execTimeMs: number | null;
}

export interface TurnTable {
  runId: string;
  columns: ResultColumn[];
  /** May be fewer than `rowCount`: the whole result is read from the run. */
  rows: Row[];
  rowCount: number;
  truncated: boolean;
}

/** What a person is asked to approve: the exact text, and the tool that would run it. */
export interface Waiting {
  tool: "execute_sql" | "execute_python";
  text: string;
}

export interface Turn {
  question: string;
  /** Ids of the messages in the thread, where known: the question's and the answer's. */
  questionId: string | null;
  answerId: string | null;
  /** The plan of a choice that a person took; it is run, and nothing is proposed. */
  chosen: PlanJson | null;
  thoughts: string[];
  plan: PlanJson | null;
  reading: string;
  /** The reading in parts. Nothing for SQL and code, and for older answers of a long thread. */
  readAs: ReadAs | null;
  sql: string | null;
  /** The main run: the one the answer is about. */
  run: TurnRun | null;
  logs: string[];
  table: TurnTable | null;
  chart: { runId: string; figure: Figure } | null;
  waiting: Waiting | null;
  /** Of an analysis in Python. */
  steps: Step[];
  /** How many of the thoughts belong to the steps so far. */
  thoughtsUsed: number;
  /** What its code showed, in order. */
  artifacts: Artifact[];
  /** Markdown, growing while it is written. `[[table-1]]` in it is the place of an artifact. */
  text: string;
  /** Nothing while the turn is under way. */
  ending: Ending | "stopped" | null;
  suggestions: string[];
  /** Of a question back: the readings that were weighed, each a plan that can be run. */
  choices: Offer[];
  problem: ProblemBody | null;
  /** The runs its numbers come from, the main one first. */
  runIds: string[];
  /** Answers to the questions before it in the same message, in order. */
  earlier: Turn[];
}

export function newTurn(
  question: string,
  questionId: string | null = null,
  chosen: PlanJson | null = null,
): Turn {
  return {
    question,
    questionId,
    answerId: null,
    chosen,
    thoughts: [],
    plan: null,
    reading: "",
    readAs: null,
    sql: null,
    run: null,
    logs: [],
    table: null,
    chart: null,
    waiting: null,
    steps: [],
    thoughtsUsed: 0,
    artifacts: [],
    text: "",
    ending: null,
    suggestions: [],
    choices: [],
    problem: null,
    runIds: [],
    earlier: [],
  };
}

/** The turn after an answer that is followed by one to the next question of the same message. */
export function withNext(ended: Turn): Turn {
  const { question, questionId, earlier } = ended;
  return { ...newTurn(question, questionId), earlier: [...earlier, { ...ended, earlier: [] }] };
}

/** The run whose details a person wants to see. */
export function mainRunId(turn: Turn): string | null {
  return turn.runIds[0] ?? turn.run?.id ?? null;
}

/** Without the table and the reading that the text repeats for readers who have only text. */
export function sentenceOf(text: string): string {
  const paragraphs = text.split(/\n{2,}/);
  const kept = paragraphs.filter(
    (one) => !/^\|.*\|/.test(one) && !/^\*Read as: /.test(one) && !/^Shown: the first /.test(one),
  );
  return kept.join("\n\n").trim();
}
