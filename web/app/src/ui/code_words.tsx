import { Fragment } from "react";

/** A sentence of the server, in which names stand between backticks. */
export function CodeWords({ text }: { text: string }) {
  return text.split("`").map((part, place) =>
    place % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one sentence never move
      <code key={place} className="rounded bg-sunken px-1 font-mono text-[0.92em]">
        {part}
      </code>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one sentence never move
      <Fragment key={place}>{part}</Fragment>
    ),
  );
}
