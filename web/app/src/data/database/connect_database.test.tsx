import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { TooltipProvider } from "~/ui";
import { ConnectDatabase } from "./connect_database";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const SECRET = "geheim-1f0c77";
const LOOK = {
  name: "shop",
  place: "shop on db.test",
  role: "writer",
  encrypted: true,
  overruled: ["it can change `shop.orders`"],
  remarks: [],
  tables: [
    { name: "shop.orders", kind: "table", rows: 1000, columns: 4 },
    { name: "shop.sums", kind: "view", rows: null, columns: 2 },
  ],
};
const REFUSED = {
  error: {
    code: "VALIDATION_ERROR",
    message: "role `writer` can do more than read",
    suggestion: "Connect as a reader.",
    details: { role: "writer", reasons: LOOK.overruled, grants: ["CREATE ROLE shop_reader;"] },
  },
};

type Answer = [status: number, body: unknown];

/** The button, and what is sent when it is used; the answers to POST are given in this order. */
function shown(mayConnect: string, ...answers: Answer[]) {
  const sent: unknown[] = [];
  const listed = { databases: [], may_connect: mayConnect, hosts: ["db.test"] };
  vi.stubGlobal(
    "fetch",
    vi.fn(async (_address: string, init: RequestInit = {}) => {
      if (!init.body) return new Response(JSON.stringify(listed));
      sent.push(JSON.parse(String(init.body)));
      const [status, body] = answers[sent.length - 1] ?? [500, {}];
      return new Response(JSON.stringify(body), { status });
    }),
  );
  const client = new QueryClient();
  render(
    <QueryClientProvider client={client}>
      <TooltipProvider>
        <ConnectDatabase />
      </TooltipProvider>
    </QueryClientProvider>,
  );
  return { sent, client };
}

async function filled() {
  fireEvent.click(await screen.findByRole("button", { name: "Connect a database" }));
  const fill = (label: string, value: string) =>
    fireEvent.change(screen.getByLabelText(label), { target: { value } });
  fill("Address", "postgresql://writer@db.test/shop");
  fill("Password", SECRET);
  fill("Name here", "shop");
  fireEvent.click(screen.getByRole("button", { name: "Connect" }));
}

test("a role that can write is used when its name was typed, and only then", async () => {
  const { sent, client } = shown("any", [422, REFUSED], [201, LOOK]);
  await filled();
  expect(await screen.findByText("CREATE ROLE shop_reader;")).toBeTruthy();
  const use = screen.getByRole<HTMLButtonElement>("button", { name: "Use a role that can write" });
  const name = screen.getByLabelText("To use it all the same, type its name: writer");
  fireEvent.change(name, { target: { value: "Writer" } });
  expect(use.disabled).toBe(true);
  fireEvent.change(name, { target: { value: "writer" } });
  fireEvent.click(use);
  expect(await screen.findByText("writer can do more than read, and was allowed all the same.")).toBeTruthy();
  const given = { url: "postgresql://writer@db.test/shop", name: "shop", password: SECRET };
  expect(sent).toEqual([given, { ...given, allow_writer: "writer" }]);
  expect(screen.getByText("about 1,000 rows")).toBeTruthy();
  // What was sent is forgotten with the dialog.
  fireEvent.click(screen.getByRole("button", { name: "Close" }));
  await waitFor(() => expect(client.getMutationCache().getAll()).toEqual([]));
  expect(document.body.innerHTML).not.toContain(SECRET);
});

test("what is wrong with the address is said at its field", async () => {
  const problem = { code: "VALIDATION_ERROR", message: "it cannot be read", suggestion: "Write it so." };
  shown("listed", [422, { error: { ...problem, details: { field: "url" } } }]);
  await filled();
  expect((await screen.findByRole("alert")).textContent).toContain("It cannot be read");
  expect(screen.getByLabelText("Address").getAttribute("aria-invalid")).toBe("true");
  expect(screen.getByText("Allowed hosts: db.test")).toBeTruthy();
});

test("a person who may connect none is not offered it", async () => {
  const { client } = shown("none");
  await waitFor(() => expect(client.getQueryData(["databases"])).toBeTruthy());
  expect(screen.queryByRole("button", { name: "Connect a database" })).toBeNull();
});
