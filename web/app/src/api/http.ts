// The only place that fetches from the REST interface. Whatever goes wrong is thrown as a Problem.
import { isProblemBody, Problem, type ProblemBody } from "./problem";

export interface RequestOptions {
  method?: "GET" | "POST" | "PATCH" | "DELETE";
  /** Sent as JSON. */
  body?: unknown;
  query?: Record<string, string | number | boolean | null | undefined>;
  signal?: AbortSignal;
  /** Statuses of 400 and more whose body is an answer all the same, such as 503 of /readyz. */
  alsoFine?: readonly number[];
}

export async function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const {
    method = options.body === undefined ? "GET" : "POST",
    body,
    query,
    signal,
    alsoFine = [],
  } = options;
  const headers: Record<string, string> = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const init: RequestInit = { method, headers, body: body === undefined ? null : JSON.stringify(body) };
  if (signal) init.signal = signal;
  const answer = await send(path + search(query), init);
  const read = await parsed(answer);
  if (!answer.ok && !alsoFine.includes(answer.status)) throw refusal(answer.status, read);
  return read as T;
}

/** The address of a resource; each part is encoded. */
export const at = (...parts: string[]) => `/${parts.map(encodeURIComponent).join("/")}`;

export function search(query: RequestOptions["query"]): string {
  const given = Object.entries(query ?? {}).filter(
    ([, value]) => value !== undefined && value !== null && value !== "",
  );
  if (given.length === 0) return "";
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

async function send(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, init);
  } catch (thrown) {
    // A cancelled request is no failure: TanStack Query knows it by its name.
    if (thrown instanceof DOMException && thrown.name === "AbortError") throw thrown;
    throw new Problem({
      code: "NETWORK",
      message: "The server cannot be reached.",
      suggestion: "Check that it is running, then try again.",
    });
  }
}

async function parsed(answer: Response): Promise<unknown> {
  if (answer.status === 204) return null;
  try {
    return await answer.json();
  } catch (thrown) {
    if (thrown instanceof DOMException && thrown.name === "AbortError") throw thrown;
    if (!answer.ok) return null;
    throw new Problem(
      {
        code: "NETWORK",
        message: "The server's answer broke off or is not JSON.",
        suggestion: "Try again.",
      },
      answer.status,
    );
  }
}

function refusal(status: number, body: unknown): Problem {
  const { error, request_id } = (body ?? {}) as { error?: unknown; request_id?: unknown };
  const problem: ProblemBody = isProblemBody(error)
    ? error
    : {
        code: "NETWORK",
        message: `The server answered with status ${status}.`,
        suggestion: "Try again; if it stays so, look at the server's log.",
      };
  return new Problem(problem, status, typeof request_id === "string" ? request_id : null);
}
