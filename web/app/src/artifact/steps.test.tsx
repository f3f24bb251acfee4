import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { keys } from "~/api/queries";
import { reduce } from "~/events/reduce";
import { newTurn, type Turn } from "~/events/turn";
import { TooltipProvider } from "~/ui";
import Steps from "./steps";

const EVENTS = [
  { type: "plan", plan: { steps: ["Load the orders", "Compare the months", "Say why"] }, reading: "" },
  { type: "thought", text: "Count them first." },
  { type: "code", step: 1, run_id: "run_1", code: "orders.coun()" },
  { type: "run", run_id: "run_1", status: "failed" },
  { type: "thought", text: "The method is called `count`." },
  { type: "code", step: 1, run_id: "run_2", code: "orders.count()" },
  { type: "log", run_id: "run_2", text: "24\n[[table-1]]" },
  { type: "run", run_id: "run_2", status: "succeeded" },
  { type: "code", step: 2, run_id: "run_3", code: "pass" },
  { type: "run", run_id: "run_3", status: "running" },
];

function shown(turn: Turn, runs: Record<string, unknown> = {}): HTMLElement {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  client.setQueryData(keys.run("run_1"), {
    status: "failed",
    stdout: "",
    stderr: "AttributeError: coun",
    error: { code: "VALIDATION_ERROR", message: "no such method", suggestion: "did you mean count?" },
    artifacts: [],
  });
  for (const [id, run] of Object.entries(runs)) client.setQueryData(keys.run(id), run);
  return render(
    <QueryClientProvider client={client}>
      <TooltipProvider>
        <Steps turn={turn} />
      </TooltipProvider>
    </QueryClientProvider>,
  ).container;
}

const working = EVENTS.reduce<Turn>(reduce, newTurn("Why?"));

test("while it works, every step is listed and the newest code is open", () => {
  const made = shown(working);
  const items = screen.getAllByRole("listitem");
  expect(items.map((item) => item.getAttribute("aria-label") ?? item.textContent)).toEqual([
    "Load the orders",
    "Compare the months",
    "3. Say why",
  ]);
  expect([...made.querySelectorAll("details")].map((one) => one.open)).toEqual([false, false, true]);
  const [first] = items;
  if (!first) throw new Error("no step");
  expect(within(first).getByText("Count them first.")).toBeTruthy();
  expect(first.textContent).toContain("No such method.");
  expect(within(first).getAllByText("count")).toHaveLength(1);
  expect(first.textContent).toContain("AttributeError: coun");
  expect(first.textContent).toContain("Corrected code");
  expect(within(first).getAllByLabelText("Output, step 1, attempt 2")[0]?.textContent).toBe("24");
  expect(first.querySelector("[data-status]")?.getAttribute("data-status")).toBe("succeeded");
});

test("when it is done, one line is left to open", () => {
  const made = shown(reduce(working, { type: "message", text: "Done.", ending: "answered" }));
  const [outer] = made.querySelectorAll("details");
  expect(outer?.open).toBe(false);
  expect(outer?.querySelector("summary")?.textContent).toBe("Worked out in 2 steps, one correction");
});

test("code that a person decides about is not shown once more", () => {
  const waiting = { type: "code", step: 3, run_id: null, goal: "Say why", code: "mine" };
  const turn: Turn = { ...reduce(working, waiting), ending: "waiting" };
  const made = shown(turn);
  expect(made.querySelectorAll("li")).toHaveLength(3);
  expect(made.textContent).not.toContain("mine");
});

test("a step has what it showed, but for what the answer shows", () => {
  const note = (id: string, text: string) => ({ id, kind: "markdown", title: text, text });
  const end = { type: "message", text: "See [[markdown-2]]", ending: "answered" };
  const artifacts = [note("markdown-1", "On the way"), note("markdown-2", "At the end")];
  const made = shown(reduce(working, end), {
    run_2: { status: "succeeded", stdout: "24", stderr: "", artifacts },
  });
  const corrected = made.querySelectorAll("details")[2];
  if (!corrected) throw new Error("no code");
  corrected.open = true;
  fireEvent(corrected, new Event("toggle"));
  expect(made.textContent).toContain("On the way");
  expect(made.textContent).not.toContain("At the end");
  expect(made.textContent).toContain("In the answer: note 2");
});
