import { useSession, useSessionState } from "./use_session";
import { warmUp } from "./warm_up";

interface ChipsProps {
  label: string;
  questions: readonly string[];
  datasetId: string | null;
}

/** Questions that can be asked by a click. */
export function Chips({ label, questions, datasetId }: ChipsProps) {
  const session = useSession();
  const running = useSessionState((state) => state.live !== null);
  if (questions.length === 0 || !datasetId) return null;
  return (
    <ul aria-label={label} className="flex flex-wrap gap-2">
      {questions.map((question) => (
        <li key={question} className="min-w-0">
          <button
            type="button"
            disabled={running}
            onPointerEnter={warmUp}
            onFocus={warmUp}
            onClick={() => session.ask(question, datasetId)}
            className="rounded-full border border-line-strong bg-page px-3 py-1.5 text-left text-ink-2 transition-colors hover:bg-hover hover:text-ink disabled:cursor-not-allowed disabled:opacity-50"
          >
            {question}
          </button>
        </li>
      ))}
    </ul>
  );
}
