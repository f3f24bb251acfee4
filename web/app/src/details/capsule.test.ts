import { expect, test } from "vitest";
import { layerWords, limitsInWords, pinWords, sealedIn } from "./capsule";

const envelope = (statement: unknown) => {
  const bytes = new TextEncoder().encode(JSON.stringify(statement));
  return { payload: btoa(String.fromCharCode(...bytes)), payloadType: "application/vnd.in-toto+json" };
};

test("the layers are in the payload, which is UTF-8", () => {
  const predicate = { isolation: ["seccomp"], engine: "duckdb 2 ✓", executor: "local", question: "é😀" };
  expect(sealedIn(envelope({ predicate }))).toEqual({
    isolation: ["seccomp"],
    engine: "duckdb 2 ✓",
    executor: "local",
    pin: { kind: "content" },
  });
});

test("what a capsule pins is said", () => {
  const sealed = { isolation: [], engine: "postgresql", executor: "live" };
  expect(pinWords({ ...sealed, pin: { kind: "content" } })).toContain("pinned by their digest");
  expect(pinWords({ ...sealed, pin: { kind: "live", source: "shop" } })).toContain("shop and are not pinned");
});

test.each([{}, { payload: 3 }, { payload: "%%" }, envelope("text"), envelope({})])(
  "no capsule: %o",
  (given) => expect(sealedIn(given)).toBeNull(),
);

test.each([
  ["namespace:network", "No network"],
  ["landlock:7", "Files only where the kernel's Landlock allows"],
  ["uid:65534", "Runs as a user that owns nothing"],
  ["gvisor", null],
])("%s is said as %s", (layer, words) => expect(layerWords(layer)).toBe(words));

test("limits have units", () => {
  const limits = limitsInWords({
    wall_ms: 30000,
    cpu_s: 61,
    memory_mb: 1024,
    tmp_mb: 0,
    pids: 64,
    rows: 200,
    cell_bytes: 65536,
    result_bytes: 4194304,
    log_bytes: 65536,
  });
  expect(Object.fromEntries(limits.map(({ name, text }) => [name, text]))).toMatchObject({
    Time: "30 s",
    "Processor time": "1 min 1 s",
    "Temporary files": "none",
    Processes: "64 processes",
    Result: "4.2 MB",
  });
});
