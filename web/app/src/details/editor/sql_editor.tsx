import { useMemo } from "react";
import { CodeEditor, type CodeEditorProps } from "./code_editor";
import type { Names } from "./plan_words";
import { duckdbSql } from "./sql_language";

export interface SqlEditorProps extends Omit<CodeEditorProps, "language"> {
  names: Names;
}

export default function SqlEditor({ names, ...rest }: SqlEditorProps) {
  const language = useMemo(() => duckdbSql(names), [names]);
  return <CodeEditor language={language} {...rest} />;
}
