/** The Python of a run; nothing for a run of anything else. */
export function pythonOf(run: object): string | null {
  return "python" in run && typeof run.python === "string" ? run.python : null;
}
