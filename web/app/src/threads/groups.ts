// The list of threads, put in order. Pure.
import { type Thread, titleOf } from "~/api/threads";
import { textOf } from "~/api/wire";
import { type Day, dayOf } from "~/format";

export interface ThreadGroup {
  day: Day;
  threads: Thread[];
}

const DAYS: readonly Day[] = ["Today", "Yesterday", "Previous 7 days", "Older"];

/** By the viewer's own days, newest first; groups without threads are left out. */
export function groupedByDay(threads: readonly Thread[], now: Date = new Date()): ThreadGroup[] {
  const newestFirst = [...threads].sort((a, b) => Date.parse(b.updated_at) - Date.parse(a.updated_at));
  const groups = new Map<Day, Thread[]>(DAYS.map((day) => [day, []]));
  for (const thread of newestFirst) groups.get(dayOf(thread.updated_at, now))?.push(thread);
  return DAYS.map((day) => ({ day, threads: groups.get(day) ?? [] })).filter((group) => group.threads.length);
}

/** Those whose title or first question has every word of `text` in it. A thread without a question is not listed. */
export function found(threads: readonly Thread[], text: string): Thread[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return threads.filter((thread) => {
    const first = firstQuestion(thread);
    if (!first && !thread.metadata.title) return false;
    const all = `${titleOf(thread)} ${first}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

function firstQuestion(thread: Thread): string {
  const first = thread.values?.messages?.find((message) => message.type === "human");
  return first ? textOf(first.content) : "";
}
