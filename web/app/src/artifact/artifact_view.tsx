// One artifact, by its kind. Whoever wrote it, nothing of it becomes part of the page.
import { lazy, Suspense } from "react";
import type { Artifact, TableArtifact } from "~/events/artifact";
import { Result } from "~/result/result";
import { Boundary } from "~/shell";
import { Markdown, Skeleton } from "~/ui";
import { Captioned } from "./framed";
import { HtmlFrame } from "./html_frame";
import { MermaidDiagram } from "./mermaid_diagram";
import { Picture } from "./picture";
import { captionOf } from "./place";
import { PlotlyPlot } from "./plotly_plot";

const VegaPlot = lazy(() => import("./vega_plot"));

interface ArtifactViewProps {
  artifact: Artifact;
  /** The run whose code showed it. */
  runId: string;
  datasetId?: string | undefined;
  /** This table is the run's result: the server has files of it. */
  isResult?: boolean;
}

export function ArtifactView(props: ArtifactViewProps) {
  return (
    <div data-artifact={props.artifact.id} className="min-w-0">
      <Boundary resetKey={props.artifact.id}>
        <Shown {...props} />
      </Boundary>
    </div>
  );
}

function Shown({ artifact, runId, datasetId, isResult = false }: ArtifactViewProps) {
  const title = captionOf(artifact);
  switch (artifact.kind) {
    case "table":
      return <TableOf artifact={artifact} runId={runId} datasetId={datasetId} isResult={isResult} />;
    case "plot":
      if (artifact.format === "plotly") return <PlotlyPlot figure={artifact.figure} title={title} />;
      if (artifact.format === "svg") return <Picture svg={artifact.svg} title={title} />;
      return (
        <Suspense fallback={<Skeleton className="h-80" />}>
          <VegaPlot spec={artifact.spec} title={title} />
        </Suspense>
      );
    case "html":
      return <HtmlFrame html={artifact.html} title={title} />;
    case "mermaid":
      return <MermaidDiagram text={artifact.text} title={title} captioned={artifact.title !== ""} />;
    case "markdown":
      return <Note text={artifact.text} title={artifact.title} />;
  }
}

type TableProps = Omit<ArtifactViewProps, "artifact"> & { artifact: TableArtifact };

function TableOf({ artifact, runId, datasetId, isResult = false }: TableProps) {
  const { id, title, columns, rows, row_count, truncated } = artifact;
  return (
    <Captioned title={title}>
      <Result
        run={{
          runId: isResult ? runId : `${runId}/${id}`,
          columns,
          rows,
          // All the rows that there are to have are here.
          rowCount: rows.length,
          truncated: truncated || row_count > rows.length,
          datasetId,
          downloads: isResult,
        }}
      />
    </Captioned>
  );
}

function Note({ text, title }: { text: string; title: string }) {
  return (
    <Captioned title={title}>
      <div className="break-words">
        <Markdown text={text} />
      </div>
    </Captioned>
  );
}
