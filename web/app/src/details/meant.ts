const MEANT = /did you mean `([^`]+)`\?/;

/** The name that a problem's message offers. */
export function meantBy(message: string): string | null {
  return MEANT.exec(message)?.[1] ?? null;
}
