// "… did you mean `category`?" as an edit: for a plan's problem that the server offers no whole correction for.
import { placeOf } from "./editor/json_places";
import type { PlanProblem } from "./editor/plan_editor";
import { meantBy } from "./meant";

/** The text with the name that was meant, and nothing else changed. */
export function corrected(text: string, { field, message }: PlanProblem): string {
  const meant = meantBy(message);
  if (meant === null) return text;
  const { from, to } = placeOf(text, field, message.startsWith("unknown field") ? "name" : "value");
  // Only a name is replaced by a name; a bracket that stands for something missing is not.
  return text[from] === '"' ? text.slice(0, from) + JSON.stringify(meant) + text.slice(to) : text;
}
