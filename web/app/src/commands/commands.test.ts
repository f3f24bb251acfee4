import { expect, test, vi } from "vitest";
import { commandFor, isTyping, matches, type Press } from "./keys";
import { Registry } from "./registry";

const press = (key: string, held: Partial<Press> = {}): Press => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...held,
});

test.each([
  ["d", press("d"), true],
  ["d", press("D", { shiftKey: true }), false],
  ["d", press("d", { ctrlKey: true }), false],
  ["mod+k", press("k", { ctrlKey: true }), true],
  ["mod+k", press("k", { metaKey: true }), true],
  ["mod+k", press("k"), false],
  ["?", press("?", { shiftKey: true }), true],
  ["?", press("?"), true],
  ["/", press("/", { altKey: true }), false],
  ["shift+enter", press("Enter", { shiftKey: true }), true],
  ["escape", press("Escape"), true],
])("%s by %o: %s", (keys, pressed, expected) => expect(matches(pressed, keys)).toBe(expected));

test("while typing, only keys with a modifier mean something", () => {
  const run = () => undefined;
  const all = [
    { id: "d", title: "Details", keys: "d", run },
    { id: "k", title: "Palette", keys: "mod+k", run },
    { id: "x", title: "Leave", keys: "escape", whileTyping: true, run },
  ];
  expect(commandFor(press("d"), true, all)).toBeUndefined();
  expect(commandFor(press("d"), false, all)?.id).toBe("d");
  expect(commandFor(press("k", { ctrlKey: true }), true, all)?.id).toBe("k");
  expect(commandFor(press("Escape"), true, all)?.id).toBe("x");
});

test("the last one registered holds, and gives way when it goes", () => {
  const registry = new Registry();
  const heard = vi.fn();
  registry.subscribe(heard);
  registry.add({ id: "a", title: "first", run: () => undefined });
  const away = registry.add({ id: "a", title: "second", run: () => undefined });
  expect(registry.all().map((command) => command.title)).toEqual(["second"]);
  away();
  expect(registry.all().map((command) => command.title)).toEqual(["first"]);
  expect(heard).toHaveBeenCalledTimes(3);
  expect(registry.run("nothing")).toBe(false);
});

test("a fallback gives way to a command that was there before it", () => {
  const registry = new Registry();
  const away = registry.add({ id: "a", title: "page", run: () => undefined });
  registry.add({ id: "a", title: "shell", fallback: true, run: () => undefined });
  expect(registry.find("a")?.title).toBe("page");
  away();
  expect(registry.find("a")?.title).toBe("shell");
});

test("fields are typed in, buttons are not", () => {
  const field = (tag: string, type?: string) => {
    const made = document.createElement(tag);
    if (type) made.setAttribute("type", type);
    return made;
  };
  expect(isTyping(field("input"))).toBe(true);
  expect(isTyping(field("textarea"))).toBe(true);
  expect(isTyping(field("input", "checkbox"))).toBe(false);
  expect(isTyping(field("button"))).toBe(false);
  expect(isTyping(null)).toBe(false);
});
