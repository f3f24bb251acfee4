import ReactMarkdown, { type Components } from "react-markdown";
import gfm from "remark-gfm";

// Text may quote what is in the data: a picture in it would be fetched from wherever it names.
const PARTS: Components = {
  img: ({ alt }) => <span>{alt}</span>,
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer" className="text-accent underline">
      {children}
    </a>
  ),
  p: ({ children }) => <p className="not-first:mt-3">{children}</p>,
  ul: ({ children }) => <ul className="mt-2 list-disc space-y-1 pl-5">{children}</ul>,
  ol: ({ children }) => <ol className="mt-2 list-decimal space-y-1 pl-5">{children}</ol>,
  code: ({ children }) => <code className="rounded bg-sunken px-1 font-mono text-[0.9em]">{children}</code>,
  pre: ({ children }) => <pre className="mt-2 overflow-auto rounded-md border bg-panel p-3">{children}</pre>,
  table: ({ children }) => (
    <div className="mt-3 overflow-auto rounded-md border">
      <table className="w-full text-body">{children}</table>
    </div>
  ),
  th: ({ children, style }) => (
    <th style={style} className="border-b bg-panel px-3 py-1.5 text-left font-medium text-ink-2">
      {children}
    </th>
  ),
  td: ({ children, style }) => (
    <td style={style} className="border-b px-3 py-1.5">
      {children}
    </td>
  ),
};

const PLUGINS = [gfm];

export default function MarkdownText({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={PLUGINS} components={PARTS} skipHtml>
      {text}
    </ReactMarkdown>
  );
}
