// What went wrong, in the one shape that every surface shows: what happened, and what to do next.

export interface ProblemBody {
  code: string;
  message: string;
  suggestion?: string;
  details?: Record<string, unknown>;
}

export class Problem extends Error {
  readonly code: string;
  readonly suggestion: string;
  readonly details: Record<string, unknown>;
  /** The HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly requestId: string | null;
  /** When the server says that it is worth another attempt. */
  readonly retryAfterS: number | null;

  constructor(
    body: ProblemBody,
    status = 0,
    requestId: string | null = null,
    retryAfterS: number | null = null,
  ) {
    super(body.message);
    this.name = "Problem";
    this.code = body.code;
    this.suggestion = body.suggestion ?? "";
    this.details = body.details ?? {};
    this.status = status;
    this.requestId = requestId;
    this.retryAfterS = retryAfterS;
  }
}

/** Anything that was thrown, as a Problem. */
export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  if (isProblemBody(thrown)) return new Problem(thrown);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new Problem({ code: "UNEXPECTED", message, suggestion: "Reload the page and try again." });
}

/** What is wrong with one field of a form. */
export interface WrongField {
  message: string;
  suggestion: string;
}

/** What is wrong with each field, by its name, as far as the server says which. */
export function wrongFields({ message, suggestion, details }: Problem): Record<string, WrongField> {
  const { field, errors } = details;
  if (typeof field === "string") return { [field]: { message, suggestion } };
  const found: Record<string, WrongField> = {};
  for (const one of Array.isArray(errors) ? errors : []) {
    if (isFieldError(one)) found[one.field] ??= { message: one.message, suggestion: one.suggestion };
  }
  return found;
}

const isFieldError = (value: unknown): value is WrongField & { field: string } => {
  const { field, message, suggestion } = (value ?? {}) as Record<string, unknown>;
  return typeof field === "string" && typeof message === "string" && typeof suggestion === "string";
};

export function isProblemBody(value: unknown): value is ProblemBody {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as ProblemBody).code === "string" &&
    typeof (value as ProblemBody).message === "string"
  );
}
