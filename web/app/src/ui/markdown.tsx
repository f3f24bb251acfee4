import { lazy, Suspense } from "react";

const MarkdownText = lazy(() => import("./markdown_text"));

/** Markdown without raw HTML and without pictures. Until it is loaded, the text itself is shown. */
export function Markdown({ text }: { text: string }) {
  return (
    <Suspense fallback={<p className="whitespace-pre-wrap">{text}</p>}>
      <MarkdownText text={text} />
    </Suspense>
  );
}
