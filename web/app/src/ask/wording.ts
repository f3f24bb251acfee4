// What is said around an answer, in words. Pure.
import type { ReadPart } from "~/api/model";
import { sentenceOf, type Turn } from "~/events/turn";
import type { Live } from "./session_state";

/** The answer's own words, without what is shown beside them: table, reading, choices, suggestions. */
export function spoken(turn: Turn): string {
  const offered = new Set(turn.suggestions);
  const paragraphs = sentenceOf(turn.text).split(/\n{2,}/);
  const kept = paragraphs
    .filter((one) => !lists(one, offered) && !numbers(one, turn.choices.length))
    .join("\n\n");
  // A number and its percent sign stay on one line.
  return kept.replace(/(\d) %/g, "$1\u00a0%");
}

/** Whether a paragraph is only a list of what the chips offer. */
function lists(paragraph: string, offered: ReadonlySet<string>): boolean {
  const items = paragraph.split("\n").filter((line) => line.startsWith("- "));
  return items.length > 0 && items.every((line) => offered.has(line.slice(2)));
}

/** Whether a paragraph is only a line and the numbered list of as many choices as there are buttons for. */
function numbers(paragraph: string, choices: number): boolean {
  const [, ...items] = paragraph.split("\n");
  return choices > 0 && items.length === choices && items.every((line, at) => line.startsWith(`${at + 1}. `));
}

/** What is happening now, in a few words. */
export function doing(turn: Turn, live: Live): string {
  if (live.lost) return "connection lost, connecting again";
  if (live.stopping) return "stopping";
  const status = turn.run?.status;
  if (status === "pending") return "waiting for a sandbox";
  if (status === "running") return "sealed sandbox";
  if (turn.text || turn.table) return "writing the answer";
  // A thought of the model is no word on what is being done; the goal of a step stands with the step.
  const thought = turn.thoughts.findLast((one) => one.endsWith("…")) ?? turn.thoughts.at(-1);
  if (!thought) return "sending";
  const words = thought.replace(/…$/, "").replace(/(step \d+ of \d+(?:, again)?): .*$/s, "$1");
  return words.charAt(0).toLowerCase() + words.slice(1);
}

const KINDS: Readonly<Record<ReadPart["kind"], string>> = {
  measure: "measure",
  by: "grouping",
  where: "condition",
  when: "time",
  order: "order",
  limit: "limit",
};

const SOURCES: Readonly<Record<Exclude<ReadPart["source"], "words">, string>> = {
  likely: "read so in the answer before, to be checked",
  kept: "kept from the answer before",
  chosen: "chosen by you",
  default: "no word of the question asks for it",
};

export const partText = (part: ReadPart): string => (part.kind === "by" ? `by ${part.label}` : part.label);

/** Whether no word of the question names the part. */
export const isToCheck = ({ source }: ReadPart): boolean => source === "default" || source === "likely";

/** What a part is, and where it comes from. */
export function partSource({ kind, source, words }: ReadPart): string {
  return `${KINDS[kind]}: ${cameFrom(source, words)}`;
}

function cameFrom(source: ReadPart["source"], words: ReadPart["words"]): string {
  if (source === "words") return `from ${quotedWords(words)}`;
  if (source === "likely" && words.length > 0)
    return `likely meant by ${quotedWords(words)}, not a name in the data, to be checked`;
  return SOURCES[source];
}

export const quotedWords = (words: ReadPart["words"]): string =>
  [...new Set(words.map((one) => `“${one.text}”`))].join(", ");

/** What was computed, under which conditions and for which time; what was typed only where the figure does not say it.
 * A title that is not `whole` gets the times of the reading. */
export function chartTitle(computed: string, whole: boolean, { question, readAs }: Turn): string {
  if (!computed || whole) return computed || question;
  const times = readAs?.parts.filter((part) => part.kind === "when") ?? [];
  return [computed, ...times.map((part) => part.label)].join(", ");
}

/** `run_01a1de62684900000054271a8b6dc201` is long: its beginning tells one run from the next. */
export const shortRun = (runId: string): string => runId.replace(/^run_/, "").slice(0, 10);

/** `sha256:f9847bcd…` as people name it. */
export const shortVersion = (version: string): string => version.replace(/^sha256:/, "").slice(0, 8);
