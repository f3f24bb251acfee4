// What was typed and not sent, kept for each thread while the window is open.
const key = (threadId: string | null) => `sandtable.draft.${threadId ?? "new"}`;

export function draftOf(threadId: string | null): string {
  try {
    return sessionStorage.getItem(key(threadId)) ?? "";
  } catch {
    // Storage may be forbidden.
    return "";
  }
}

export function keepDraft(threadId: string | null, text: string): void {
  try {
    if (text) sessionStorage.setItem(key(threadId), text);
    else sessionStorage.removeItem(key(threadId));
  } catch {
    // It is then kept as long as the page is.
  }
}
