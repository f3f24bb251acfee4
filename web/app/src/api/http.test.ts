import { afterEach, expect, test, vi } from "vitest";
import { request, search } from "./http";
import { Problem, problemOf } from "./problem";

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
