// The only place that fetches from the REST interface. Whatever goes wrong is thrown as a Problem.
import { isProblemBody, Problem, type ProblemBody } from "./problem";

export interface RequestOptions {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, in place of `body`, with its type. */
  text?: { type: string; content: string };
  query?: Record<string, string | number | boolean | null | undefined>;
  signal?: AbortSignal;
  /** Statuses of 400 and more whose body is an answer all the same, such as 503 of /readyz. */
  alsoFine?: readonly number[];
}

/** Shows a server that asks who it is that this page sends the request: pages of other origins cannot send it. */
export const OWN_PAGE = { "X-Sandtable-CSRF": "1" };

export async function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const {
    method = options.body === undefined ? "GET" : "POST",
    body,
    text,
    query,
    signal,
    alsoFine = [],
  } = options;
  const headers: Record<string, string> = { Accept: "application/json", ...OWN_PAGE };
  if (text !== undefined) headers["Content-Type"] = text.type;
  else if (body !== undefined) headers["Content-Type"] = "application/json";
  const sent = text?.content ?? (body === undefined ? null : JSON.stringify(body));
  const init: RequestInit = { method, headers, body: sent };
  if (signal) init.signal = signal;
  const answer = await send(path + search(query), init);
  const read = await parsed(answer);
  if (!answer.ok && !alsoFine.includes(answer.status)) {
    const refused = refusal(answer, read);
    // What names a field refuses a password in a form: who asks is known.
    const unknown = answer.status === 401 && answer.headers.has("WWW-Authenticate");
    if (unknown && refused.details.field === undefined) signIn();
    throw refused;
  }
  return read as T;
}

/** Leaves for the page to sign in on, which leads back here. */
function signIn() {
  const here = location.pathname + location.search;
  location.assign(`/login?${new URLSearchParams({ next: here })}`);
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

/** Seconds, as this server sends them; a date, which a proxy may send, is not read. */
function retryAfter(answer: Response): number | null {
  const said = answer.headers.get("Retry-After") ?? "";
  return /^\d{1,6}$/.test(said) ? Number(said) : null;
}

function refusal(answer: Response, body: unknown): Problem {
  const { status } = answer;
  const { error, request_id } = (body ?? {}) as { error?: unknown; request_id?: unknown };
  const problem: ProblemBody = isProblemBody(error)
    ? error
    : {
        code: "NETWORK",
        message: `The server answered with status ${status}.`,
        suggestion: "Try again; if it stays so, look at the server's log.",
      };
  const id = typeof request_id === "string" ? request_id : null;
  return new Problem(problem, status, id, retryAfter(answer));
}
