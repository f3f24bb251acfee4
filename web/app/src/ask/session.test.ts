import { beforeEach, describe, expect, test, vi } from "vitest";
import { Problem } from "~/api/problem";
import type { KeptState, Thread, ThreadRun } from "~/api/threads";
import { pathTo } from "./exchange";
import history from "./fixtures/history.json";
import { Session } from "./session";
import { humanMessage, type Order, type StreamPart, streamProblem, type Wire } from "./wire";

const thread = (status: Thread["status"]): Thread => ({
  thread_id: "t1",
  created_at: "",
  updated_at: "",
  status,
  metadata: { graph_id: "ecommerce" },
  values: null,
});
const PLAN = { table: "orders" };
const custom = (data: unknown): StreamPart => ({ event: "custom", data });
const message = custom({ type: "message", text: "Europe.", ending: "answered", run_ids: ["run_1"] });
const human = (id: string, content: string): StreamPart => ({
  event: "values",
  data: { messages: [{ id, type: "human", content }] },
});

/** A server that plays what it is given, and remembers what it was asked. */
class FakeWire implements Wire {
  orders: Order[] = [];
  cancelled: string[] = [];
  joined: string[] = [];
  states: KeptState[] = [];
  status: Thread["status"] = "idle";
  run: ThreadRun | null = null;
  play: (order?: Order) => AsyncIterable<StreamPart> = async function* () {
    yield message;
  };
  async *start(order: Order) {
    this.orders.push(order);
    order.onBegun("r9");
    yield* this.play(order);
  }
  async *join(_: string, runId: string, __: AbortSignal, after = "") {
    this.joined.push(after ? `${runId} after ${after}` : runId);
    yield* this.play();
  }
  cancel = async (_: string, runId: string) => {
    this.cancelled.push(runId);
  };
  history = async () => this.states;
  thread = async () => thread(this.status);
  newestRun = async () => this.run;
  onReconnect = () => () => undefined;
}

let wire: FakeWire;
let session: Session;
const begun = vi.fn();
const path = () => pathTo(session.get().tree, session.get().head);
const last = () => path().at(-1)?.answer?.turn;
const idle = () => vi.waitFor(() => expect(session.get().live).toBeNull());

beforeEach(() => {
  begun.mockReset();
  wire = new FakeWire();
  session = new Session(wire, { onBegun: begun }, [1, 1]);
});

describe("asking", () => {
  test("the question is there before the server knows it, and the thread is made with it", async () => {
    session.ask("  By region ", "ecommerce");
    expect(path().map((step) => step.question.text)).toEqual(["By region"]);
    expect(session.get().live).not.toBeNull();
    await idle();
    expect(last()).toMatchObject({ ending: "answered", text: "Europe.", runIds: ["run_1"] });
    expect(begun).toHaveBeenCalledWith(session.get().threadId);
    expect(wire.orders[0]).toMatchObject({ datasetId: "ecommerce", checkpointId: null });
  });
  test("nothing is asked twice at once, and nothing empty", async () => {
    expect(session.ask("one", "ecommerce")).toBe(true);
    // Whoever asks must know that it was not taken, or the words would be gone.
    expect(session.ask("two", "ecommerce")).toBe(false);
    await idle();
    session.ask("  ", "ecommerce");
    expect(wire.orders).toHaveLength(1);
  });
  test("a choice is a question with the plan to run", async () => {
    session.ask("Read “a” as “b”", "ecommerce", PLAN);
    await idle();
    expect(wire.orders[0]?.message).toMatchObject({ text: "Read “a” as “b”", plan: PLAN });
    session.ask("By region", "ecommerce");
    await idle();
    expect(wire.orders[1]?.message?.plan).toBeNull();
    expect(path().map((step) => step.question.chosen)).toEqual([PLAN, null]);
  });
  test("the plan is beside the words where the server looks for it", () => {
    const typed = { type: "human", id: "q", content: "By region" };
    const taken = { ...typed, additional_kwargs: { sandtable: { plan: PLAN } } };
    expect(humanMessage({ id: "q", text: "By region", plan: null })).toEqual(typed);
    expect(humanMessage({ id: "q", text: "By region", plan: PLAN })).toEqual(taken);
  });
  test("a server that cannot be reached is said, and the question stays for another try", async () => {
    wire.play = async function* () {
      yield* [];
      throw streamProblem(new TypeError("Failed to fetch"));
    };
    session.ask("By region", "ecommerce", PLAN);
    await idle();
    expect(last()).toMatchObject({ ending: "failed", problem: { code: "NETWORK" } });
    wire.play = async function* () {
      yield message;
    };
    const [step] = path();
    await session.again(step?.question.id ?? "");
    expect(wire.orders[1]?.message).toEqual(wire.orders[0]?.message);
    expect(wire.orders[1]?.message?.plan).toBe(PLAN);
    expect(path().map((one) => one.answer?.turn.ending)).toEqual(["answered"]);
  });
  test("a stream that just closes is no answer", async () => {
    wire.play = async function* () {
      yield custom({ type: "delta", text: "Eur" });
    };
    session.ask("By region", "ecommerce");
    await idle();
    expect(last()).toMatchObject({ ending: "failed", text: "Eur" });
  });
});

describe("a connection that is lost", () => {
  const cut = streamProblem(new TypeError("network error"));
  test("is made again, and the answer goes on where it was", async () => {
    wire.play = async function* (order) {
      if (order) {
        yield { id: "7", ...custom({ type: "delta", text: "Eu" }) };
        throw cut;
      }
      yield { id: "8", ...custom({ type: "delta", text: "rope" }) };
      yield { ...message, data: { ...(message.data as object), text: "Europe" } };
    };
    session.ask("By region", "ecommerce");
    await idle();
    expect(wire.joined).toEqual(["r9 after 7"]);
    expect(last()).toMatchObject({ ending: "answered", text: "Europe" });
  });
  test("is given up after some tries, and can be taken up by hand", async () => {
    wire.play = async function* () {
      yield custom({ type: "delta", text: "Eu" });
      throw cut;
    };
    // Each part that comes starts the count anew: here none does after the first.
    const first = wire.play;
    wire.play = (order) => (order ? first() : failing());
    const failing = async function* () {
      yield* [];
      throw cut;
    };
    session.ask("By region", "ecommerce");
    await idle();
    expect(wire.joined).toHaveLength(2);
    expect(last()).toMatchObject({ ending: "failed", text: "Eu", problem: { code: "NETWORK" } });
    wire.play = async function* () {
      yield message;
    };
    const [step] = path();
    if (step?.answer) await session.retry(step.answer);
    expect(wire.orders).toHaveLength(1);
    expect(wire.joined).toHaveLength(3);
    expect(last()?.ending).toBe("answered");
  });
});

test("stop cancels on the server and keeps what was written", async () => {
  wire.play = async function* () {
    yield custom({ type: "delta", text: "Euro" });
    await vi.waitFor(() => expect(wire.cancelled).toEqual(["r9"]));
    yield { event: "error", data: { error: "UserInterrupt", message: "cancelled" } };
  };
  session.ask("By region", "ecommerce");
  await vi.waitFor(() => expect(last()?.text).toBe("Euro"));
  await session.stop();
  await idle();
  expect(last()).toMatchObject({ ending: "stopped", text: "Euro" });
});

test("a stop that fails is said, and the answer goes on", async () => {
  let end: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    end = resolve;
  });
  wire.cancel = async () => {
    throw new Problem({ code: "NETWORK", message: "not reached" });
  };
  wire.play = async function* () {
    yield custom({ type: "delta", text: "Euro" });
    await held;
    yield message;
  };
  session.ask("By region", "ecommerce");
  await vi.waitFor(() => expect(last()?.text).toBe("Euro"));
  await session.stop();
  expect(session.get().notice?.message).toBe("not reached");
  expect(session.get().live?.stopping).toBe(false);
  end();
  await idle();
  expect(last()?.ending).toBe("answered");
});

describe("branches", () => {
  beforeEach(async () => {
    wire.states = history as unknown as KeptState[];
    await session.open("t1");
  });
  test("an edited question branches off before it", async () => {
    await session.edit("q2", "by year");
    expect(wire.orders[0]).toMatchObject({ checkpointId: "c3", message: { text: "by year" } });
    expect(path().map((step) => step.question.text)).toEqual(["Return rate by category", "by year"]);
  });
  test("another answer is asked for at the question", async () => {
    await session.again("q2");
    expect(wire.orders[0]).toMatchObject({ checkpointId: "c4" });
    expect(wire.orders[0]?.message).toBeUndefined();
  });
  test("a question on an older branch goes on from there", async () => {
    session.show("r2:q2");
    session.ask("top 5", "ecommerce");
    await idle();
    expect(wire.orders[0]?.checkpointId).toBe("c5");
    expect(
      path()
        .map((step) => step.question.id)
        .slice(0, 2),
    ).toEqual(["q1", "q2"]);
  });
});

describe("taking up", () => {
  const run = (status: string): ThreadRun => ({ run_id: "r7", created_at: "2026-01-01T00:00:00Z", status });
  test("what is under way goes on", async () => {
    wire.status = "busy";
    wire.run = run("running");
    wire.play = async function* () {
      yield { event: "metadata", data: { run_id: "r7" } };
      yield human("q5", "By region");
      yield message;
    };
    await session.open("t1");
    expect(wire.joined).toEqual(["r7"]);
    expect(path().map((step) => [step.question.text, step.answer?.turn.ending])).toEqual([
      ["By region", "answered"],
    ]);
    expect(session.get().live).toBeNull();
  });
  test("what was stopped before is told again", async () => {
    wire.states = [
      {
        values: { messages: [{ id: "q5", type: "human", content: "By region" }] },
        checkpoint: { checkpoint_id: "c1" },
        parent_checkpoint: null,
        metadata: { run_id: "r7" },
      },
    ];
    wire.run = run("interrupted");
    wire.play = async function* () {
      yield* [];
    };
    await session.open("t1");
    expect(last()?.ending).toBe("stopped");
  });
  test("a thread that is not there is a problem of the page", async () => {
    wire.thread = async () => {
      throw new Problem({ code: "NOT_FOUND", message: "no thread" }, 404);
    };
    await session.open("t1");
    expect(session.get()).toMatchObject({ opening: false, problem: { status: 404 } });
  });
});

test("a person's decision goes on in the same place", async () => {
  wire.play = async function* (order) {
    if (order?.resume) {
      yield message;
      return;
    }
    const value = { action_requests: [{ name: "execute_sql", args: { sql: "SELECT 1" } }] };
    yield { event: "values", data: { messages: [], __interrupt__: [{ value }] } };
  };
  session.ask("By region", "ecommerce");
  await idle();
  expect(last()).toMatchObject({ ending: "waiting", sql: "SELECT 1" });
  const [step] = path();
  if (step?.answer) session.decide(step.answer, { type: "approve" });
  await idle();
  expect(wire.orders[1]?.resume).toEqual({ decisions: [{ type: "approve" }] });
  expect(path().map((one) => one.answer?.turn.ending)).toEqual(["answered"]);
});

test("edited code is a step of the same analysis", async () => {
  const code = (text: string) => custom({ type: "code", step: 1, goal: "Count", code: text });
  wire.play = async function* (order) {
    if (order?.resume) {
      yield code("mine");
      yield custom({ type: "run", run_id: "run_1", status: "succeeded" });
      yield message;
      return;
    }
    yield custom({ type: "plan", plan: { steps: ["Count"] }, reading: "In Python: Count" });
    yield code("theirs");
    const value = { action_requests: [{ name: "execute_python", args: { code: "theirs" } }] };
    yield { event: "values", data: { messages: [], __interrupt__: [{ value }] } };
  };
  session.ask("By region", "ecommerce");
  await idle();
  expect(last()).toMatchObject({ ending: "waiting", waiting: { tool: "execute_python", text: "theirs" } });
  const [step] = path();
  const edited_action = { name: "execute_python", args: { code: "mine" } } as const;
  if (step?.answer) session.decide(step.answer, { type: "edit", edited_action });
  await idle();
  expect(wire.orders[1]?.resume).toEqual({ decisions: [{ type: "edit", edited_action }] });
  expect(last()).toMatchObject({ ending: "answered", plan: { steps: ["Count"] }, waiting: null });
  expect(last()?.steps[0]?.attempts).toMatchObject([{ code: "mine", runId: "run_1" }]);
});

test("who joins after a decision knows the steps before it", async () => {
  const args = { code: "x", step: 1, goal: "Load" };
  const ran = { run_id: "run_1", status: "succeeded" };
  const messages = [
    { id: "q", type: "human", content: "Why?" },
    { id: "a", type: "ai", content: "", tool_calls: [{ id: "c", name: "execute_python", args }] },
    { id: "t", type: "tool", content: JSON.stringify(ran) },
  ];
  wire.status = "busy";
  wire.run = { run_id: "r1", status: "running", created_at: "" } as ThreadRun;
  wire.play = async function* () {
    yield { event: "values", data: { messages } };
    yield custom({ type: "code", step: 2, goal: "Sum", code: "y" });
    yield message;
  };
  await session.open("t1");
  await idle();
  expect(last()?.steps.map((one) => [one.goal, one.attempts[0]?.status])).toEqual([
    ["Load", "succeeded"],
    ["Sum", "cancelled"],
  ]);
});

test("leaving stops listening", async () => {
  session.ask("By region", "ecommerce");
  session.clear();
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(session.get().exchanges).toEqual([]);
  expect(wire.orders[0]?.signal.aborted ?? true).toBe(true);
});

test.each([
  [
    "our own words",
    { status: 422, text: '{"error":{"code":"INVALID_INPUT","message":"too long"}}' },
    "too long",
  ],
  ["a proxy's page", { status: 502, text: "<html>" }, "The server answered with status 502."],
  ["no answer at all", new TypeError("Failed to fetch"), "The connection to the server was lost."],
])("a stream's error: %s", (_, thrown, said) => {
  expect(streamProblem(thrown).message).toBe(said);
});
