import { lazy, Suspense, useMemo } from "react";
import { Skeleton } from "~/ui";
import { Captioned } from "./framed";
import { Undrawn } from "./picture";
import { safeDiagram } from "./safe_diagram";

const Diagram = lazy(() => import("./diagram"));

interface MermaidDiagramProps {
  text: string;
  title: string;
  /** Whether the title is the stranger's own, and worth showing. */
  captioned: boolean;
}

/** A stranger's diagram, shown as an image. What cannot be drawn is shown as its text. */
export function MermaidDiagram({ text, title, captioned }: MermaidDiagramProps) {
  const safe = useMemo(() => safeDiagram(text), [text]);
  return (
    <Suspense fallback={<Skeleton className="h-64" />}>
      <Captioned title={captioned ? title : ""}>
        <Diagram text={safe} label={title} instead={<Undrawn what="diagram" title={title} text={text} />} />
      </Captioned>
    </Suspense>
  );
}
