// What is read from a capsule and a report on it, in words.
import type { Limits, Link } from "~/api/model";
import type { Capsule } from "~/api/rest";
import { bytes, count, duration, number } from "~/format";

export interface Sealed {
  isolation: string[];
  engine: string;
  executor: string;
  /** Of capsules before the sixth format, whose data are always pinned, it is not there. */
  pin: { kind: string; source?: string };
}

/** The statement inside the envelope; nothing when it is not what is expected. */
export function sealedIn(capsule: Capsule): Sealed | null {
  try {
    const payload = Uint8Array.from(atob(String(capsule.payload)), (letter) => letter.charCodeAt(0));
    const { predicate } = JSON.parse(new TextDecoder().decode(payload)) as { predicate?: Partial<Sealed> };
    if (!predicate) return null;
    const { isolation = [], engine = "", executor = "", pin = { kind: "content" } } = predicate;
    return { isolation, engine, executor, pin };
  } catch {
    // Of another format: verifying says what is wrong with it.
    return null;
  }
}

/** What the capsule can prove about the rows that were read. */
export function pinWords({ pin }: Sealed): string {
  return pin.kind === "live"
    ? `The rows stay in the database ${pin.source ?? ""} and are not pinned: the capsule proves what it gave at that moment.`
    : "The data are pinned by their digest: the answer can be computed again from the same rows.";
}

const LAYERS: Readonly<Record<string, string>> = {
  "namespace:user": "Users of its own, with no rights outside",
  "namespace:mount": "Mounts of its own",
  "namespace:pid": "Sees no other process",
  "namespace:network": "No network",
  "namespace:ipc": "No memory shared with others",
  "namespace:uts": "A host name of its own",
  "namespace:cgroup": "Sees no other control group",
  "one-address": "Reaches one address: that of its database",
  "private-root": "An almost empty file system, data read-only",
  landlock: "Files only where the kernel's Landlock allows",
  seccomp: "Only the system calls it needs",
  rlimits: "Limits on memory, time and files",
  "no-new-privileges": "Cannot gain rights",
  "no-capabilities": "No special rights",
  uid: "Runs as a user that owns nothing",
  cgroup: "Memory and processes limited together",
};

export function layerWords(layer: string): string | null {
  return LAYERS[layer] ?? LAYERS[layer.split(":")[0] ?? ""] ?? null;
}

export function limitsInWords(limits: Limits): { name: string; text: string }[] {
  return [
    { name: "Rows", text: number(limits.rows) },
    { name: "Time", text: duration(limits.wall_ms) },
    { name: "Processor time", text: duration(limits.cpu_s * 1000) },
    { name: "Memory", text: mebibytes(limits.memory_mb) },
    { name: "Temporary files", text: limits.tmp_mb === 0 ? "none" : mebibytes(limits.tmp_mb) },
    { name: "Processes", text: count(limits.pids, "process", "processes") },
    { name: "Result", text: bytes(limits.result_bytes) },
    { name: "One cell", text: bytes(limits.cell_bytes) },
    { name: "Log", text: bytes(limits.log_bytes) },
  ];
}

const mebibytes = (size: number) => `${number(size)} MiB`;

export const LINK_WORDS: Readonly<Record<Link["name"], { title: string; claim: string }>> = {
  envelope: { title: "Envelope", claim: "The file is a capsule and can be read." },
  signature: { title: "Signature", claim: "Nothing was changed since it was signed." },
  signer: { title: "Signer", claim: "The key is one that this server trusts." },
  digests: { title: "Digests", claim: "Every part fits its recorded digest." },
  question: { title: "Question → plan", claim: "A reading, check it." },
  data: { title: "Data version", claim: "The data is, byte for byte, the one that was asked." },
  plan: { title: "Plan → SQL", claim: "The plan gives the same SQL again." },
  verdict: { title: "Verdict", claim: "The gate judges what ran the same again." },
  result: { title: "Result", claim: "Run again, it gives the same rows." },
  chart: { title: "Chart", claim: "Drawn again, the chart is the same." },
  artifacts: { title: "What was shown", claim: "Run again, the code shows the same." },
  stdout: { title: "What was printed", claim: "Run again, the code prints the same." },
};
