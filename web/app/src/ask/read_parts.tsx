// How a question was read: a chip for each part, and the words that are in none. A chip with choices opens a menu;
// taking a choice is a turn of its own that runs the plan of the choice.
import { ChevronDown, CircleAlert } from "lucide-react";
import { type ReactNode, useRef } from "react";
import type { Choice, Offer, ReadAs, ReadPart } from "~/api/model";
import type { Turn } from "~/events/turn";
import { classes, Menu, MenuChoices, MenuHeading } from "~/ui";
import { focusAfterAsking } from "./composer";
import { useSession, useSessionState } from "./use_session";
import { warmUp } from "./warm_up";
import { isToCheck, partSource, partText, quotedWords } from "./wording";

export type Choose = (choice: Choice | Offer) => void;

/** The parts where they are known; else the reading as a sentence, or the readings that a question back offers. */
export function Reading({ turn, datasetId }: { turn: Turn; datasetId: string | null }) {
  const session = useSession();
  const running = useSessionState((state) => state.live !== null);
  const choose: Choose = ({ message, plan }) => {
    if (datasetId !== null) session.ask(message, datasetId, plan ?? null);
  };
  if (turn.choices.length > 0)
    return <Readings choices={turn.choices} disabled={running || datasetId === null} onChoose={choose} />;
  if (turn.readAs === null)
    return turn.reading ? <p className="text-ink-3">Read as: {turn.reading}</p> : null;
  return <ReadParts read={turn.readAs} disabled={running || datasetId === null} onChoose={choose} />;
}

/** Whole readings of a question that was asked back about: a click runs one of them. */
export function Readings({
  choices,
  disabled,
  onChoose,
}: { choices: Offer[] } & Omit<ReadPartsProps, "read">) {
  const lead = choices.length > 1 ? "Which of these do you mean?" : "Do you mean this?";
  return (
    <div className="space-y-1.5">
      <p className="text-ink-3">{lead}</p>
      <ol aria-label={lead} className="flex flex-col items-start gap-1.5">
        {choices.map((choice) => (
          <li key={choice.label} className="min-w-0 max-w-full">
            <button
              type="button"
              disabled={disabled}
              onPointerEnter={warmUp}
              onFocus={warmUp}
              onClick={() => {
                onChoose(choice);
                focusAfterAsking();
              }}
              className="max-w-full break-words rounded-lg border border-line-strong bg-page px-3 py-1.5 text-left text-ink-2 transition-colors hover:bg-hover hover:text-ink disabled:cursor-not-allowed disabled:opacity-50"
            >
              {choice.label}
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}

interface ReadPartsProps {
  read: ReadAs;
  /** While an answer is under way, choices are shown and cannot be taken. */
  disabled: boolean;
  onChoose: Choose;
}

export function ReadParts({ read, disabled, onChoose }: ReadPartsProps) {
  // Answers kept from before do not have them.
  const joins = read.joins ?? [];
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for the fields of a form.
    <div role="group" aria-label="How the question was read" className="space-y-1">
      <div className="flex items-baseline gap-2">
        <span className="shrink-0 text-ink-3">Read as:</span>
        <ul className="flex min-w-0 flex-wrap gap-1.5">
          {read.parts.map((part, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a reading never change their order.
            <li key={at} className="min-w-0 max-w-full">
              <Chip part={part} disabled={disabled} onChoose={onChoose} />
            </li>
          ))}
        </ul>
      </div>
      {joins.length > 0 && <p className="break-words text-ink-3 text-small">Joined by: {joins.join(", ")}</p>}
      {read.unread.length > 0 && (
        <p className="flex gap-1.5 text-warning">
          <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          <span className="min-w-0 break-words">In no part of it: {quotedWords(read.unread)}</span>
        </p>
      )}
      {read.aside.length > 0 && (
        <p className="break-words text-ink-3 text-small">Left aside: {quotedWords(read.aside)}</p>
      )}
    </div>
  );
}

const CHIP =
  "inline-flex max-w-full items-center gap-1 rounded-full border px-2.5 py-0.5 text-left text-ink-2 [&_svg]:size-3.5 [&_svg]:shrink-0";

function Chip({ part, disabled, onChoose }: { part: ReadPart } & Omit<ReadPartsProps, "read">) {
  const look = classes(CHIP, isToCheck(part) ? "border-control border-dashed" : "border-line-strong");
  const { choices } = part;
  const asked = useRef(false);
  if (choices.length === 0)
    return (
      <span title={partSource(part)} className={classes(look, "bg-panel")}>
        <ChipText part={part} />
      </span>
    );
  return (
    <Menu
      className="max-w-[min(24rem,calc(100vw-16px))]"
      onCloseAutoFocus={(event) => {
        if (!asked.current) return;
        // The chip is out of sight, above the question that was asked: the focus would scroll back to it.
        asked.current = false;
        event.preventDefault();
        focusAfterAsking();
      }}
      trigger={
        <button
          type="button"
          onPointerEnter={warmUp}
          onFocus={warmUp}
          className={classes(look, "bg-page transition-colors hover:bg-hover hover:text-ink")}
        >
          <ChipText part={part} />
          <ChevronDown aria-hidden />
        </button>
      }
    >
      <MenuHeading>{partSource(part)}</MenuHeading>
      <MenuChoices
        choices={[part.label, ...choices.map((one) => one.label)].map((title, at) => ({
          id: String(at),
          title,
        }))}
        value="0"
        disabled={disabled}
        onChange={(id) => {
          const taken = choices[Number(id) - 1];
          if (!taken) return;
          asked.current = true;
          onChoose(taken);
        }}
      />
    </Menu>
  );
}

function ChipText({ part }: { part: ReadPart }): ReactNode {
  return (
    <span className="min-w-0 break-words">
      {partText(part)}
      {part.source === "default" && <span className="text-ink-3"> · assumed</span>}
      {part.source === "likely" && (
        <span className="text-warning">
          {" · likely"}
          {part.words.length > 0 && `: ${quotedWords(part.words)}`}
        </span>
      )}
      <span className="sr-only">, {partSource(part)}</span>
    </span>
  );
}
