// The tree as assistant-ui wants it: every message with the one before it, and which one is the last shown.
import { ExportedMessageRepository, type ThreadMessage } from "@assistant-ui/react";
import type { Answer, Question, Tree } from "./tree";

/** What an answer's message carries for the components that show it. */
export interface Carried extends Record<string, unknown> {
  answer: Answer;
}

export interface CarriedByQuestion extends Record<string, unknown> {
  /** It takes a choice: its text does not say what is asked, so that it cannot be edited. */
  chosen: boolean;
}

export interface Item {
  parentId: string | null;
  of: Question | Answer;
}

/** Parents before children, brothers in the order they came. */
export function itemsOf(tree: Tree): Item[] {
  const byParent = new Map<string | null, Question[]>();
  const byQuestion = new Map<string, Answer[]>();
  const there = new Set(tree.answers.map((one) => one.id));
  for (const one of tree.questions) {
    const parent = one.parent !== null && there.has(one.parent) ? one.parent : null;
    byParent.set(parent, [...(byParent.get(parent) ?? []), one]);
  }
  for (const one of tree.answers)
    byQuestion.set(one.question, [...(byQuestion.get(one.question) ?? []), one]);
  const items: Item[] = [];
  const add = (parentId: string | null) => {
    for (const question of byParent.get(parentId) ?? []) {
      items.push({ parentId, of: question });
      for (const answer of byQuestion.get(question.id) ?? []) {
        items.push({ parentId: question.id, of: answer });
        add(answer.id);
      }
    }
  };
  add(null);
  return items;
}

/** Messages stay the same objects while what they are made of does, so that only what changed is drawn. */
export class Messages {
  private made = new Map<string, { of: unknown; message: ThreadMessage }>();

  repository(tree: Tree, head: string | null): ExportedMessageRepository {
    const before = this.made;
    this.made = new Map();
    const messages = itemsOf(tree).map(({ parentId, of }) => ({
      parentId,
      message: this.message(of, before),
    }));
    const known = tree.answers.some((one) => one.id === head);
    return { headId: known ? head : tree.head, messages };
  }

  private message(of: Question | Answer, before: Messages["made"]): ThreadMessage {
    const key = "turn" in of ? of.turn : of.text;
    const kept = before.get(of.id);
    const message = kept?.of === key ? kept.message : made(of);
    this.made.set(of.id, { of: key, message });
    return message;
  }
}

function made(of: Question | Answer): ThreadMessage {
  const like =
    "turn" in of
      ? {
          id: of.id,
          role: "assistant" as const,
          content: of.turn.text,
          status:
            of.turn.ending === null
              ? ({ type: "running" } as const)
              : ({ type: "complete", reason: "stop" } as const),
          metadata: { custom: { answer: of } satisfies Carried },
        }
      : {
          id: of.id,
          role: "user" as const,
          content: of.text,
          metadata: { custom: { chosen: of.chosen !== null } satisfies CarriedByQuestion },
        };
  const [item] = ExportedMessageRepository.fromArray([like]).messages;
  if (!item) throw new Error("a message was not made");
  return item.message;
}
