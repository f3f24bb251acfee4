// What a file leaves open: its questions, and the repairs that are offered for it.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { answerImport, importKeys } from "~/api/imports";
import type { FileQuestion, Import, Repair } from "~/api/model";
import { Button, CodeWords, ErrorNote } from "~/ui";

export function Asked({ made }: { made: Import }) {
  const client = useQueryClient();
  const [answers, setAnswers] = useState<Record<string, string>>({});
  const [repairs, setRepairs] = useState<readonly string[]>([]);
  const send = useMutation({
    mutationFn: () => answerImport(made.id, { answers, repairs: [...repairs] }),
    onSuccess: (next) => client.setQueryData(importKeys.one(made.id), next),
  });
  const open = made.questions.some((question) => !(question.id in answers));
  const refused = made.questions.length === 0;
  return (
    <form
      className="space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        send.mutate();
      }}
    >
      {refused && made.problem && <ErrorNote error={made.problem} />}
      {made.questions.map((question) => (
        <Question
          key={question.id}
          question={question}
          chosen={answers[question.id] ?? null}
          onChoose={(answer) => setAnswers({ ...answers, [question.id]: answer })}
        />
      ))}
      {made.repairs.length > 0 && (
        <Repairs repairs={made.repairs} chosen={repairs} onChange={setRepairs} alone={refused} />
      )}
      {send.error && <ErrorNote error={send.error} />}
      <Button
        kind="primary"
        type="submit"
        disabled={open || (refused && repairs.length === 0) || send.isPending}
      >
        Read the file
      </Button>
    </form>
  );
}

interface QuestionProps {
  question: FileQuestion;
  chosen: string | null;
  onChoose: (answer: string) => void;
}

function Question({ question, chosen, onChoose }: QuestionProps) {
  const name = useId();
  return (
    <fieldset className="space-y-1">
      <legend className="mb-1">
        <CodeWords text={question.text} />
      </legend>
      {question.choices.map((choice) => (
        <label
          key={choice.answer}
          className="flex cursor-pointer items-center gap-2 rounded px-1 py-0.5 hover:bg-hover"
        >
          <input
            type="radio"
            name={name}
            checked={chosen === choice.answer}
            onChange={() => onChoose(choice.answer)}
          />
          {choice.label}
        </label>
      ))}
    </fieldset>
  );
}

interface RepairsProps {
  repairs: readonly Repair[];
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
  /** Nothing else can be done. */
  alone: boolean;
}

function Repairs({ repairs, chosen, onChange, alone }: RepairsProps) {
  const toggle = (id: string) =>
    onChange(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]);
  return (
    <fieldset className="space-y-1">
      <legend className="mb-1">{alone ? "What can be done:" : "You could also:"}</legend>
      {repairs.map((repair) => (
        <label
          key={repair.id}
          className="flex cursor-pointer items-start gap-2 rounded px-1 py-0.5 hover:bg-hover"
        >
          <input
            type="checkbox"
            className="mt-1"
            checked={chosen.includes(repair.id)}
            onChange={() => toggle(repair.id)}
          />
          <CodeWords text={repair.label} />
        </label>
      ))}
    </fieldset>
  );
}
