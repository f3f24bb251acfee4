import type { ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import gfm from "remark-gfm";
import { linkHost } from "./link_host";
import { Moments } from "./moments";

// Text may quote what is in the data: a picture in it would be fetched from wherever it names.
const PARTS: Components = {
  img: ({ alt, src }) => {
    const host = linkHost(typeof src === "string" ? src : undefined, "");
    return (
      <span>
        {alt || "picture"}
        {host && <span className="text-ink-3"> (not loaded from {host})</span>}
      </span>
    );
  },
  // Where a link leads is seen before it is followed.
  a: ({ href, children }) => {
    // An address that is none of the web has been emptied: its words are only words.
    if (!href) return children;
    const host = linkHost(href, wordsOf(children));
    return (
      <>
        <a
          href={href}
          target="_blank"
          rel="noopener noreferrer"
          className="break-words text-accent underline"
        >
          {children}
        </a>
        {host && <span className="text-ink-3"> ({host})</span>}
      </>
    );
  },
  p: ({ children }) => (
    <p className="not-first:mt-3">
      <Moments>{children}</Moments>
    </p>
  ),
  li: ({ children }) => (
    <li>
      <Moments>{children}</Moments>
    </li>
  ),
  strong: ({ children }) => (
    <strong>
      <Moments>{children}</Moments>
    </strong>
  ),
  em: ({ children }) => (
    <em>
      <Moments>{children}</Moments>
    </em>
  ),
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
      <Moments>{children}</Moments>
    </td>
  ),
};

function wordsOf(children: ReactNode): string {
  if (typeof children === "string") return children;
  return Array.isArray(children) ? children.map(wordsOf).join("") : "";
}

const PLUGINS = [gfm];

export default function MarkdownText({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={PLUGINS} components={PARTS} skipHtml>
      {text}
    </ReactMarkdown>
  );
}
