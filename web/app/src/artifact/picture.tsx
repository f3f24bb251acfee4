import { useMemo, useState } from "react";
import { CodeText, classes } from "~/ui";
import { Framed } from "./framed";
import { pictureAddress } from "./safe_picture";

interface PictureProps {
  svg: string;
  title: string;
  /** A drawing of which nothing is known is shown on white, which it was made for. */
  paper?: boolean;
}

/** A stranger's drawing, never as part of the page. */
export function Picture({ svg, title, paper = true }: PictureProps) {
  const address = useMemo(() => pictureAddress(svg), [svg]);
  const [failed, setFailed] = useState("");
  if (failed === address) return <Undrawn what="picture" title={title} text={svg} />;
  return (
    <Framed title={title}>
      <section
        aria-label={title}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        className={classes("max-h-[640px] overflow-auto p-3", paper && "bg-paper")}
      >
        <img
          src={address}
          alt={title}
          onError={() => setFailed(address)}
          className="mx-auto block h-auto max-w-full"
        />
      </section>
    </Framed>
  );
}

/** What cannot be drawn can still be read. */
export function Undrawn({ what, title, text }: { what: string; title: string; text: string }) {
  return (
    <Framed title={title}>
      <div className="space-y-2 p-3">
        <p className="text-ink-2">This {what} cannot be drawn. Its text:</p>
        <CodeText label={`text of ${title}`} text={text} />
      </div>
    </Framed>
  );
}
