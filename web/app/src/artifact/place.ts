// Where artifacts stand in an answer. Pure.
import type { Artifact } from "~/events/artifact";

export type Part = { kind: "text"; text: string } | { kind: "artifact"; artifact: Artifact };

const TAG = /\[\[((?:table|plot|html|mermaid|markdown)-[1-9]\d{0,5})\]\]/g;
const ALONE = /^[\s>*-]*\[\[[a-z]+-\d+\]\][\s.,:;*]*$/;
/** A tag of which only the beginning has been written. */
const BEGUN = /\[\[[a-z]*(?:-\d*)?\]?$/;
const FENCE = /^\s{0,3}(```+|~~~+)/;

/**
 * A tag on a line of its own is the artifact's place. Within a sentence it becomes the artifact's name, and the
 * artifact follows the paragraph. What no tag names comes at the end; a tag that names nothing is left out.
 */
export function place(markdown: string, artifacts: readonly Artifact[]): Part[] {
  const left = new Map(artifacts.map((one) => [one.id, one]));
  const names = new Map(artifacts.map((one) => [one.id, nameOf(one)]));
  const parts: Part[] = [];
  let text: string[] = [];
  let waiting: Artifact[] = [];
  let fence: string | null = null;

  const take = (id: string): Artifact[] => {
    const found = left.get(id);
    left.delete(id);
    return found ? [found] : [];
  };
  const settle = () => {
    const joined = text
      .join("\n")
      .replace(/^(?:[ \t]*\n)+/, "")
      .trimEnd();
    if (joined !== "") parts.push({ kind: "text", text: joined });
    text = [];
    for (const artifact of waiting) parts.push({ kind: "artifact", artifact });
    waiting = [];
  };

  for (const line of markdown.replace(BEGUN, "").split("\n")) {
    const mark = FENCE.exec(line)?.[1];
    if (fence !== null || mark) {
      if (fence === null) fence = mark ?? null;
      else if (mark?.startsWith(fence) && line.trim() === mark) fence = null;
      text.push(line);
    } else if (ALONE.test(line)) {
      waiting.push(...idsIn(line).flatMap(take));
      // An unknown tag leaves the text around it whole.
      if (waiting.length > 0) settle();
    } else {
      if (line.trim() === "" && waiting.length > 0) settle();
      waiting.push(...idsIn(line).flatMap(take));
      text.push(named(line, names));
    }
  }
  settle();
  return [...parts, ...[...left.values()].map((artifact): Part => ({ kind: "artifact", artifact }))];
}

/** Code quoted in a line keeps its brackets. */
const prose = (line: string): string => line.replace(/`[^`]*`/g, "");

const idsIn = (line: string): string[] => [...prose(line).matchAll(TAG)].map(([, id = ""]) => id);

function named(line: string, names: ReadonlyMap<string, string>): string {
  return line
    .split(/(`[^`]*`)/)
    .map((piece, at) =>
      at % 2 === 1
        ? piece
        : piece.replace(
            /\s*\[\[((?:table|plot|html|mermaid|markdown)-[1-9]\d{0,5})\]\]/g,
            (tag, id: string, from: number) => {
              const name = names.get(id);
              // At the end of a sentence the artifact itself follows: it needs no name there.
              const last =
                piece
                  .slice(from + tag.length)
                  .trim()
                  .replace(/[.:)]/g, "") === "";
              return name === undefined || last ? "" : `${/^\s/.test(tag) ? " " : ""}${name}`;
            },
          ),
    )
    .join("")
    .replace(/([:,;])\.$/, "$1");
}

const WORDS = { table: "table", plot: "chart", html: "page", mermaid: "diagram", markdown: "note" } as const;

/** As a sentence speaks of it: the server's own markup in a title is only text. */
export function nameOf({ id, kind }: Artifact): string {
  return `${WORDS[kind]} ${id.replace(/^\D*/, "")}`;
}

/** What stands above it, and what is read aloud. */
export const captionOf = (artifact: Artifact): string => {
  const name = nameOf(artifact);
  return artifact.title.trim() || name.charAt(0).toUpperCase() + name.slice(1);
};
