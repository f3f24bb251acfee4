import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { PasswordForm } from "./password_form";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function changed(given: [string, string, string], status = 204, body: unknown = null) {
  const sent = vi.fn(
    async (_address: string, _init: RequestInit) =>
      new Response(status === 204 ? null : JSON.stringify(body), { status }),
  );
  vi.stubGlobal("fetch", sent);
  render(
    <QueryClientProvider client={new QueryClient()}>
      <PasswordForm name="bob" />
    </QueryClientProvider>,
  );
  const labels = ["Old password", "New password", "New password, again"];
  for (const [place, label] of labels.entries()) {
    fireEvent.change(screen.getByLabelText(label), { target: { value: given[place] } });
  }
  fireEvent.click(screen.getByRole("button", { name: "Change the password" }));
  return sent;
}

test("two passwords that differ are not sent", () => {
  const sent = changed(["old one", "another good one", "another bad one"]);
  expect(screen.getByRole("alert").textContent).toContain("The two differ.");
  expect(sent).not.toHaveBeenCalled();
});

test("after the change the fields are empty", async () => {
  const sent = changed(["old one", "another good one", "another good one"]);
  expect(await screen.findByText(/Your password is changed/)).toBeTruthy();
  expect(JSON.parse(String(sent.mock.calls[0]?.[1].body))).toEqual({
    old: "old one",
    new: "another good one",
  });
  expect((screen.getByLabelText("Old password") as HTMLInputElement).value).toBe("");
});

test.each([
  ["old", "Old password"],
  ["new", "New password"],
])("a wrong %s password is said at its field", async (field, label) => {
  const error = { code: "VALIDATION_ERROR", message: "the password is wrong", details: { field } };
  changed(["old one", "short", "short"], 422, { error });
  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toContain("The password is wrong.");
  expect(screen.getByLabelText(label).getAttribute("aria-describedby")).toBe(alert.id);
});
