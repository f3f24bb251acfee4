import { useMutation, useQueryClient } from "@tanstack/react-query";
import { MoreHorizontal } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { boardKeys, changeQuestion, deleteQuestion } from "~/api/boards";
import type { ChartKind, KeptQuestion } from "~/api/model";
import { KINDS } from "~/chart/types";
import { ShareDialog } from "~/sharing/share_dialog";
import { SharedMark } from "~/sharing/shared_mark";
import { useWhose } from "~/sharing/use_sharing";
import { places } from "~/shell";
import {
  Button,
  Dialog,
  ErrorNote,
  IconButton,
  Menu,
  MenuChoices,
  MenuHeading,
  MenuItem,
  MenuLine,
} from "~/ui";
import { NameForm } from "./name_form";

export function KeptList({ questions }: { questions: readonly KeptQuestion[] }) {
  return (
    <section>
      <h2 className="mb-2 font-medium">Kept questions</h2>
      <ul aria-label="Kept questions" className="divide-y rounded-md border">
        {questions.map((question) => (
          <KeptRow key={question.id} question={question} />
        ))}
      </ul>
    </section>
  );
}

function KeptRow({ question }: { question: KeptQuestion }) {
  const { people, mine, sharedBy } = useWhose()(question.owner);
  return (
    <li className="flex items-center gap-3 px-3 py-2">
      <div className="min-w-0 flex-1">
        <Link
          to={places.run(question.latest_run)}
          className="block truncate underline-offset-2 hover:underline"
        >
          {question.name}
        </Link>
        <p className="flex flex-wrap gap-x-3 text-ink-3 text-small">
          <span className="truncate">{question.dataset_id}</span>
          {question.question && question.question !== question.name && (
            <span className="truncate">{question.question}</span>
          )}
          {sharedBy && <SharedMark by={sharedBy} />}
        </p>
      </div>
      {mine && <KeptMenu question={question} people={people} />}
    </li>
  );
}

const AS_DRAWN = "as-drawn";
const KIND_IDS = Object.keys(KINDS) as ChartKind[];
const CHARTS = [
  { id: AS_DRAWN, title: "As drawn" },
  ...KIND_IDS.map((id) => ({ id, title: KINDS[id].title })),
];

type Act = "rename" | "share" | "delete";

function KeptMenu({ question, people }: { question: KeptQuestion; people: boolean }) {
  const [act, setAct] = useState<Act | null>(null);
  const client = useQueryClient();
  const done = () => {
    setAct(null);
    return client.invalidateQueries({ queryKey: boardKeys.questions });
  };
  const rename = useMutation({
    mutationFn: (name: string) => changeQuestion(question, { name }),
    onSuccess: done,
  });
  const draw = useMutation({
    mutationFn: (chart: ChartKind | null) => changeQuestion(question, { chart }),
    onSuccess: done,
  });
  const remove = useMutation({ mutationFn: () => deleteQuestion(question.id), onSuccess: done });
  // After the menu has closed, which gives the focus back.
  const later = (next: Act) => setTimeout(() => setAct(next), 0);
  const shown = (one: Act) => ({ open: act === one, onOpenChange: (open: boolean) => open || setAct(null) });
  return (
    <>
      <Menu
        align="end"
        trigger={
          <IconButton label={`More about ${question.name}`} size="smallIcon">
            <MoreHorizontal />
          </IconButton>
        }
      >
        <MenuItem onSelect={() => later("rename")}>Rename</MenuItem>
        {people && <MenuItem onSelect={() => later("share")}>Share</MenuItem>}
        {question.kind !== "python" && (
          <>
            <MenuLine />
            <MenuHeading>Chart on boards, where it fits</MenuHeading>
            <MenuChoices
              choices={CHARTS}
              value={question.chart ?? AS_DRAWN}
              onChange={(id) => draw.mutate(KIND_IDS.find((kind) => kind === id) ?? null)}
            />
            <MenuLine />
          </>
        )}
        <MenuItem danger onSelect={() => later("delete")}>
          Delete
        </MenuItem>
      </Menu>
      {draw.error && (
        <Dialog open onOpenChange={() => draw.reset()} title="The chart was not changed">
          <ErrorNote error={draw.error} />
        </Dialog>
      )}
      <Dialog {...shown("rename")} title="Rename">
        <NameForm
          label="Name"
          action="Rename"
          name={question.name}
          pending={rename.isPending}
          error={rename.error}
          onName={(name) => rename.mutate(name)}
        />
      </Dialog>
      <Dialog
        {...shown("delete")}
        title={`Delete ${question.name}?`}
        description="Tiles with it stay on their boards and say that it is gone. Its runs stay as long as all runs do."
      >
        <div className="space-y-3">
          {remove.error && <ErrorNote error={remove.error} />}
          <div className="flex gap-2">
            <Button kind="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
              Delete it
            </Button>
            <Button onClick={() => setAct(null)}>Leave it</Button>
          </div>
        </div>
      </Dialog>
      <ShareDialog {...shown("share")} kind="question" id={question.id} title={question.name} />
    </>
  );
}
