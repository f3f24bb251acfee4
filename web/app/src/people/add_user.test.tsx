import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { TooltipProvider } from "~/ui";
import { AddUser } from "./add_user";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const BOB = {
  name: "bob",
  admin: false,
  disabled: false,
  has_password: true,
  must_change_password: false,
  issuer: null,
  teams: [],
  created_at: 1,
  signed_in_at: null,
  keys: 0,
  password: "abcde-fghjk-mnpqr-stuvw",
};

/** The form, and what it sends; the answers are given in this order. */
function shown(...answers: [number, unknown][]) {
  const sent: unknown[] = [];
  vi.stubGlobal(
    "fetch",
    vi.fn(async (_address: string, init: RequestInit) => {
      sent.push(JSON.parse(String(init.body)));
      const [status, body] = answers[sent.length - 1] ?? [500, {}];
      return new Response(JSON.stringify(body), { status });
    }),
  );
  const client = new QueryClient();
  const made = render(
    <QueryClientProvider client={client}>
      <TooltipProvider>
        <AddUser onClose={() => undefined} />
      </TooltipProvider>
    </QueryClientProvider>,
  );
  return { sent, client, ...made };
}

const named = (name: string) => {
  fireEvent.change(screen.getByLabelText("Name"), { target: { value: name } });
  fireEvent.click(screen.getByRole("button", { name: "Add the user" }));
};

const refused = (message: string, details: Record<string, unknown>) => ({
  error: { code: "VALIDATION_ERROR", message, suggestion: "Choose another name.", details },
});

test("the password is shown, and forgotten when the form is gone", async () => {
  const { sent, client, unmount } = shown([201, BOB]);
  named(" bob ");
  expect(await screen.findByText(BOB.password)).toBeTruthy();
  expect(sent).toEqual([{ name: "bob", admin: false, make_password: true, restore: false }]);
  unmount();
  await waitFor(() => expect(client.getMutationCache().getAll()).toEqual([]));
});

test("what is wrong with the name stands at the field, until it is changed", async () => {
  shown([422, refused("the user `bob` exists already", { field: "name" })]);
  named("bob");
  const field = screen.getByLabelText("Name");
  await waitFor(() => expect(field.getAttribute("aria-invalid")).toBe("true"));
  const about = document.getElementById(field.getAttribute("aria-describedby") ?? "");
  expect(about?.textContent).toBe("The user bob exists already. Choose another name.");
  expect(screen.getAllByRole("alert")).toHaveLength(1);
  fireEvent.change(field, { target: { value: "bobby" } });
  await waitFor(() => expect(field.getAttribute("aria-invalid")).toBeNull());
});

test("the account of a user who was removed can be restored", async () => {
  const { sent } = shown(
    [422, refused("a user `bob` was removed", { field: "name", removed: true })],
    [201, { ...BOB, password: null }],
  );
  named("bob");
  fireEvent.click(await screen.findByRole("button", { name: "Restore this account" }));
  expect(await screen.findByText("bob was added.")).toBeTruthy();
  expect(sent[1]).toMatchObject({ name: "bob", restore: true });
});

test("what no field caused is shown below the form", async () => {
  shown([403, { error: { code: "UNAUTHORIZED", message: "only an administrator may do this" } }]);
  named("bob");
  expect((await screen.findByRole("alert")).textContent).toContain("Only an administrator may do this.");
  expect(screen.getByLabelText("Name").getAttribute("aria-invalid")).toBeNull();
});
