import { afterEach, expect, test, vi } from "vitest";
import { request, search } from "./http";
import { Problem, problemOf } from "./problem";
import { mayHelp, pauseMs } from "./queries";

afterEach(() => vi.unstubAllGlobals());

const answering = (status: number, body: string) =>
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => new Response(body, { status })),
  );

const thrownBy = async (work: Promise<unknown>): Promise<Problem> => {
  const thrown = await work.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(thrown instanceof Problem)) throw new Error(`not a Problem: ${String(thrown)}`);
  return thrown;
};

test("an answer is given back, and JSON was asked for", async () => {
  answering(200, '{"a":1}');
  expect(await request("/runs", { query: { limit: 5, text: "", status: undefined } })).toEqual({ a: 1 });
  const [address, init] = vi.mocked(fetch).mock.calls[0] ?? [];
  expect(address).toBe("/runs?limit=5");
  expect(init?.headers).toMatchObject({ Accept: "application/json" });
});

test("the server's problem is thrown whole", async () => {
  answering(
    404,
    '{"error":{"code":"NOT_FOUND","message":"no run","suggestion":"look","details":{"id":1}},"request_id":"r"}',
  );
  const problem = await thrownBy(request("/runs/x"));
  expect(problem).toMatchObject({
    code: "NOT_FOUND",
    message: "no run",
    suggestion: "look",
    status: 404,
    requestId: "r",
  });
  expect(problem.details).toEqual({ id: 1 });
});

test.each([
  ["a proxy's page", 502, "<html>"],
  ["half an answer", 200, '{"a":'],
])("%s is a network problem", async (_, status, body) => {
  answering(status, body);
  expect((await thrownBy(request("/runs"))).code).toBe("NETWORK");
});

test("no server is a network problem", async () => {
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => Promise.reject(new TypeError("failed"))),
  );
  expect(await thrownBy(request("/runs"))).toMatchObject({ code: "NETWORK", status: 0 });
});

test("a status that is an answer all the same", async () => {
  answering(503, '{"ready":false}');
  expect(await request("/readyz", { alsoFine: [503] })).toEqual({ ready: false });
});

test("search", () => {
  expect(search({})).toBe("");
  expect(search({ text: "a b&c", cache: false, before: null })).toBe("?text=a+b%26c&cache=false");
});

test("anything thrown is a problem", () => {
  expect(problemOf(new Error("x"))).toMatchObject({ code: "UNEXPECTED", message: "x" });
  expect(problemOf({ code: "NOT_FOUND", message: "m" }).code).toBe("NOT_FOUND");
});

test.each([
  [429, "7", 7, true],
  [503, "5", 5, true],
  [503, "3600", 3600, false],
  [503, "Wed, 21 Oct 2026 07:28:00 GMT", null, true],
  [422, "5", 5, false],
])("status %i with Retry-After %s", async (status, said, seconds, again) => {
  vi.stubGlobal(
    "fetch",
    vi.fn(
      async () =>
        new Response('{"error":{"code":"X","message":"m"}}', { status, headers: { "Retry-After": said } }),
    ),
  );
  const problem = await thrownBy(request("/runs"));
  expect(problem.retryAfterS).toBe(seconds);
  expect([mayHelp(0, problem), mayHelp(2, problem)]).toEqual([again, false]);
  expect(pauseMs(1, problem)).toBe(1000 * (seconds ?? 2));
});

test("who is asked to sign in leaves for that page, and comes back to this one", async () => {
  const assign = vi.fn();
  vi.stubGlobal("location", { pathname: "/runs", search: "?status=failed", assign });
  const body =
    '{"error":{"code":"UNAUTHORIZED","message":"no","suggestion":"","details":{}},"request_id":"r"}';
  for (const [headers, times] of [
    [{}, 0],
    [{ "WWW-Authenticate": "Bearer" }, 1],
  ] as const) {
    vi.stubGlobal(
      "fetch",
      vi.fn(async () => new Response(body, { status: 401, headers })),
    );
    expect((await thrownBy(request("/me"))).code).toBe("UNAUTHORIZED");
    expect(assign).toHaveBeenCalledTimes(times);
  }
  expect(assign).toHaveBeenCalledWith("/login?next=%2Fruns%3Fstatus%3Dfailed");
});

test("every request shows that it comes from this page", async () => {
  answering(200, "null");
  await request("/logout", { method: "POST" });
  expect(vi.mocked(fetch).mock.calls[0]?.[1]?.headers).toMatchObject({ "X-Sandtable-CSRF": "1" });
});

test.each([
  ["who asks is not known", {}, 1],
  ["a field of a form is wrong", { field: "old" }, 0],
])("on 401, when %s, the page to sign in on is opened %o %i times", async (_, details, times) => {
  const assign = vi.fn();
  vi.stubGlobal("location", { pathname: "/account", search: "", assign });
  const error = { code: "UNAUTHORIZED", message: "no", details };
  const init = { status: 401, headers: { "WWW-Authenticate": "Bearer" } };
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => new Response(JSON.stringify({ error }), init)),
  );
  expect((await thrownBy(request("/me/password", { method: "PUT", body: {} }))).status).toBe(401);
  expect(assign).toHaveBeenCalledTimes(times);
});
