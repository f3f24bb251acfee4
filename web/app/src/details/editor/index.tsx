// The editors, loaded when the first one is shown. Until then the text is there to read.
import { lazy, Suspense } from "react";
import { Boundary } from "~/shell";
import { classes } from "~/ui";
import type { PlanEditorProps } from "./plan_editor";
import type { SqlEditorProps } from "./sql_editor";

export type { Mark } from "./code_editor";
export type { PlanProblem } from "./plan_editor";
export type { JsonSchema, Names } from "./plan_words";

const LazyPlanEditor = lazy(() => import("./plan_editor"));
const LazySqlEditor = lazy(() => import("./sql_editor"));

export const PlanEditor = (props: PlanEditorProps) => (
  <Boundary>
    <Suspense fallback={<Plain {...props} />}>
      <LazyPlanEditor {...props} />
    </Suspense>
  </Boundary>
);

export const SqlEditor = (props: SqlEditorProps) => (
  <Boundary>
    <Suspense fallback={<Plain {...props} />}>
      <LazySqlEditor {...props} />
    </Suspense>
  </Boundary>
);

/** As high as the editor will be, so that nothing jumps. */
const Plain = ({ text, onChange }: Pick<SqlEditorProps, "text" | "onChange">) => (
  <pre
    className={classes(
      "max-h-[min(360px,45dvh)] overflow-hidden whitespace-pre-wrap rounded-md border py-2 pr-3 font-mono text-[13px] leading-5",
      onChange ? "min-h-24 border-control pl-6" : "pl-2",
    )}
  >
    {text}
  </pre>
);
