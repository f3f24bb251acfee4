import { Children, Fragment, type ReactNode } from "react";
import { instantsIn } from "~/format";

/** Text with the moments in it as the viewer's clock has them; hovering shows them as they were written. */
export function Moments({ children }: { children: ReactNode }) {
  return Children.map(children, (child) => (typeof child === "string" ? inText(child) : child));
}

function inText(text: string): ReactNode {
  let at = 0;
  return instantsIn(text).map((piece) => {
    const key = at;
    at += typeof piece === "string" ? piece.length : piece.raw.length;
    return typeof piece === "string" ? (
      <Fragment key={key}>{piece}</Fragment>
    ) : (
      <time key={key} dateTime={piece.iso} title={piece.raw}>
        {piece.text}
      </time>
    );
  });
}
