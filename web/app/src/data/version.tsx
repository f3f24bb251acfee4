import { Copy } from "~/ui";

/** Enough of a digest to tell two apart by eye; the whole of it is copied. */
export function shortDigest(digest: string): string {
  return digest.replace(/^sha256:/, "").slice(0, 10);
}

export function Version({ version }: { version: string }) {
  return (
    <span className="inline-flex items-center gap-1">
      <span>
        version{" "}
        <code className="font-mono text-[0.95em]" title={version}>
          {shortDigest(version)}
        </code>
      </span>
      <Copy text={version} label="Copy the version" />
    </span>
  );
}
