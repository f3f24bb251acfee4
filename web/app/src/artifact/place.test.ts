import { describe, expect, test } from "vitest";
import { type Artifact, artifactsOf } from "~/events/artifact";
import { captionOf, place } from "./place";

const note = (id: string): Artifact => ({ id, title: "", kind: "markdown", text: id });
const table = artifactsOf([{ id: "table-1", kind: "table", columns: [], rows: [] }]);
const known = [...table, note("markdown-1"), note("markdown-2")];

/** Parts in a line: text as it is, artifacts as «id». */
const shown = (markdown: string, artifacts: readonly Artifact[] = known) =>
  place(markdown, artifacts).map((part) => (part.kind === "text" ? part.text : `«${part.artifact.id}»`));

test.each<[string, string, string[]]>([
  ["no tags: all follow", "Hello.", ["Hello.", "«table-1»", "«markdown-1»", "«markdown-2»"]],
  ["no text", "", ["«table-1»", "«markdown-1»", "«markdown-2»"]],
  [
    "a line of its own",
    "One.\n\n[[markdown-1]]\n\nTwo.\n\n[[table-1]]",
    ["One.", "«markdown-1»", "Two.", "«table-1»", "«markdown-2»"],
  ],
  [
    "two on a line, in this order",
    "[[markdown-2]] \n[[markdown-1]]\nEnd.",
    ["«markdown-2»", "«markdown-1»", "End.", "«table-1»"],
  ],
  [
    "within a sentence it is named and follows the paragraph",
    "As [[table-1]] shows,\nit fell.\n\nMore.",
    ["As table 1 shows,\nit fell.", "«table-1»", "More.", "«markdown-1»", "«markdown-2»"],
  ],
  [
    "at the end of a sentence",
    "See here: [[table-1]].",
    ["See here:", "«table-1»", "«markdown-1»", "«markdown-2»"],
  ],
  [
    "twice: drawn once, then named",
    "[[table-1]]\n\nIn [[table-1]] again",
    ["«table-1»", "In table 1 again", "«markdown-1»", "«markdown-2»"],
  ],
  ["a list item", "- a\n- [[table-1]]\n- b", ["- a", "«table-1»", "- b", "«markdown-1»", "«markdown-2»"]],
])("%s", (_, markdown, parts) => {
  expect(shown(markdown)).toEqual(parts);
});

describe("what names nothing", () => {
  test.each([
    ["alone", "One.\n\n[[plot-7]]\n\nTwo.", ["One.\n\n\nTwo."]],
    ["in a sentence", "As [[plot-7]] shows.", ["As shows."]],
    ["another kind", "See [[weather-1]] there.", ["See [[weather-1]] there."]],
    ["a begun tag, while it is written", "One.\n\n[[tab", ["One."]],
    ["a begun tag, at its last bracket", "One.\n\n[[table-1]", ["One."]],
    ["in quoted code", "Write `[[table-1]]` there.", ["Write `[[table-1]]` there."]],
    ["in a code block", "```\n[[table-1]]\n```\nEnd.", ["```\n[[table-1]]\n```\nEnd."]],
    ["a reference of markdown", "[a][b] and [[c]]", ["[a][b] and [[c]]"]],
  ])("%s", (_, markdown, parts) => {
    expect(shown(markdown, [])).toEqual(parts);
  });

  test("code keeps its tag, and the artifact follows", () => {
    expect(shown("```\n[[table-1]]\n```", table)).toEqual(["```\n[[table-1]]\n```", "«table-1»"]);
    expect(shown("Write `[[table-1]]` there.", table)).toEqual(["Write `[[table-1]]` there.", "«table-1»"]);
  });
});

test("every artifact is placed once, whatever the text", () => {
  for (const text of [
    "[[table-1]][[table-1]]",
    "> [[table-1]]",
    "~~~\n[[table-1]]",
    "a\n[[table-1]]\nb [[markdown-1]] c",
  ])
    expect(
      shown(text)
        .filter((one) => one.startsWith("«"))
        .sort(),
    ).toEqual(["«markdown-1»", "«markdown-2»", "«table-1»"]);
});

test("what has no title has a name", () => {
  expect(captionOf(note("markdown-2"))).toBe("Note 2");
  expect(captionOf({ ...note("markdown-2"), title: "Method" })).toBe("Method");
});
