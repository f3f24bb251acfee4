// What an answer needs and the empty page does not, fetched as soon as a person is about to ask.
import { langgraph } from "~/api/langgraph";

export const importEvidence = () => import("./evidence");

let begun = false;

export function warmUp(): void {
  if (begun) return;
  begun = true;
  const parts = [langgraph(), importEvidence(), import("~/ui/markdown_text")];
  // What did not come now is fetched again when it is needed, and is missed there.
  void Promise.allSettled(parts).then((outcomes) => {
    begun = outcomes.every((one) => one.status === "fulfilled");
  });
}
