import { json, jsonLanguage } from "@codemirror/lang-json";
import { useMemo } from "react";
import { CodeEditor, type CodeEditorProps, type Mark } from "./code_editor";
import { brokenPlace, placeOf } from "./json_places";
import { planCompletion } from "./plan_completion";
import type { JsonSchema, Names } from "./plan_words";

export interface PlanProblem {
  /** Such as `filters[0].value`; empty for the plan as a whole. */
  field: string;
  message: string;
  suggestion: string;
}

export interface PlanEditorProps extends Omit<CodeEditorProps, "language" | "marks"> {
  schema: JsonSchema;
  names: Names;
  problems: readonly PlanProblem[];
  /** The text that the problems are about. */
  judged: string;
  unreadable: boolean;
}

export default function PlanEditor({
  schema,
  names,
  problems,
  judged,
  unreadable,
  ...rest
}: PlanEditorProps) {
  const language = useMemo(
    () => [json(), jsonLanguage.data.of({ autocomplete: planCompletion(schema, names) })],
    [schema, names],
  );
  const marks = useMemo(
    () => (unreadable ? brokenMark(judged) : problems.map((problem) => markOf(judged, problem))),
    [problems, judged, unreadable],
  );
  return <CodeEditor language={language} marks={marks} {...rest} />;
}

function markOf(text: string, { field, message }: PlanProblem): Mark {
  return { ...placeOf(text, field, message.startsWith("unknown field") ? "name" : "value"), message };
}

function brokenMark(text: string): Mark[] {
  const place = brokenPlace(text);
  return place ? [{ ...place, message: "The JSON is broken here." }] : [];
}
