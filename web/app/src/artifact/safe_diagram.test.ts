import { expect, test } from "vitest";
import { safeDiagram } from "./safe_diagram";

test.each([
  ["a flow", "flowchart LR\n  A[Start<br/>here] --> B{x < 3}"],
  ["classes", "classDiagram\n  class A {\n    <<interface>>\n  }\n  A <|-- B"],
  ["a sequence", "sequenceDiagram\n  A->>B: see https://x.example\n  %% a comment"],
  ["a shape", 'flowchart LR\n  A@{ shape: rounded, label: "x" }'],
])("%s stays as it is", (_, text) => {
  expect(safeDiagram(text)).toBe(text);
});

test.each([
  [
    "settings in front",
    "---\nconfig:\n  securityLevel: loose\n---\nflowchart LR\n  A-->B",
    "flowchart LR\n  A-->B",
  ],
  ["a directive", '%%{init: {"securityLevel": "loose"}}%%\nflowchart LR', "\nflowchart LR"],
  ["a picture in a label", 'A["<img src=https://x.example/p.png onerror=x()>"]', 'A[""]'],
  ["a tag inside a tag", 'A["<<img>img src=https://x.example>"]', 'A["img src=https://x.example>"]'],
  ["an open tag", 'A["<img src=x"]', 'A["img src=x"]'],
  ["a click", 'A-->B\nclick A href "https://x.example"', "A-->B\n"],
  ["a shape that is a picture", 'A@{ img: "https://x.example/p.png", w: 60 }', 'A@{ label: "", w: 60 }'],
  ["a style that loads", "style A fill:url(https://x.example)", "style A fill:(https://x.example)"],
])("%s is left out", (_, text, expected) => {
  expect(safeDiagram(text)).toBe(expected);
});
