// What was typed and not sent, for each thread, while the window is open. `null` is the next new question.
// Invariant: a text leaves only by being sent, deleted by the person, or moved to the thread it was asked in.

export class Drafts {
  private readonly texts = new Map<string | null, string>();
  private waiting: { threadId: string | null; text: string } | null = null;
  private readonly watchers = new Set<() => void>();

  get(threadId: string | null): string {
    return this.texts.get(threadId) ?? stored(threadId);
  }

  set(threadId: string | null, text: string): void {
    this.texts.set(threadId, text);
    store(threadId, text);
    for (const watcher of this.watchers) watcher();
  }

  /** A new question was asked and has become a thread: what is written beside it belongs there. */
  move(threadId: string): void {
    const text = this.get(null);
    this.set(null, "");
    if (text) this.set(threadId, text);
  }

  /** To be sent as soon as that is possible. */
  sendLater(threadId: string | null): void {
    this.waiting = { threadId, text: this.get(threadId) };
    for (const watcher of this.watchers) watcher();
  }

  /** Whether it waits to be sent. Further typing withdraws it. */
  waits(threadId: string | null): boolean {
    return this.waiting?.threadId === threadId && this.waiting.text === this.get(threadId);
  }

  subscribe = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };
}

export const drafts = new Drafts();

const key = (threadId: string | null) => `sandtable.draft.${threadId ?? "new"}`;

function stored(threadId: string | null): string {
  try {
    return sessionStorage.getItem(key(threadId)) ?? "";
  } catch {
    // Storage may be forbidden.
    return "";
  }
}

function store(threadId: string | null, text: string): void {
  try {
    if (text) sessionStorage.setItem(key(threadId), text);
    else sessionStorage.removeItem(key(threadId));
  } catch {
    // It is then kept as long as the page is.
  }
}
