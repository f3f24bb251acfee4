// The digests in a capsule: what two runs are compared by.
import type { Capsule } from "~/api/rest";

/** By name (`result`, `data`, `plan`, …); empty when the capsule cannot be read. */
export function digestsOf(capsule: Capsule): Readonly<Record<string, string>> {
  try {
    const bytes = Uint8Array.from(atob(String(capsule.payload)), (sign) => sign.charCodeAt(0));
    const statement: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const digests =
      (statement as { predicate?: { digests?: Record<string, unknown> } }).predicate?.digests ?? {};
    return Object.fromEntries(
      Object.entries(digests).filter((pair): pair is [string, string] => typeof pair[1] === "string"),
    );
  } catch {
    // Whether a capsule holds is what Verify tells; here its digests are then unknown.
    return {};
  }
}
