// What verifying found, link by link.
import { Check, CircleAlert, Eye, Minus, PinOff, X } from "lucide-react";
import type { Link, Report } from "~/api/model";
import { count } from "~/format";
import { classes } from "~/ui";
import { LINK_WORDS } from "./capsule";

const MARKS = {
  ok: { icon: Check, word: "holds", colour: "text-good" },
  broken: { icon: X, word: "broken", colour: "text-danger" },
  not_checked: { icon: Minus, word: "not checked", colour: "text-ink-3" },
  not_pinned: { icon: PinOff, word: "not pinned", colour: "text-warning" },
  reading: { icon: Eye, word: "a reading, check it", colour: "text-warning" },
} as const;

export function ReportList({ report }: { report: Report }) {
  return (
    <div role="status" className="rounded-md border">
      <Summary report={report} />
      <ul className="divide-y border-t">
        {report.links.map((link) => (
          <LinkRow key={link.name} link={link} />
        ))}
      </ul>
    </div>
  );
}

function Summary({ report }: { report: Report }) {
  const broken = report.links.filter((link) => link.status === "broken");
  const open = report.links.filter((link) => link.status === "not_checked").length;
  const unpinned = report.links.some((link) => link.status === "not_pinned");
  const look = broken.length ? "bg-danger-soft" : open || unpinned ? "bg-warning-soft" : "bg-good-soft";
  const Icon = broken.length ? X : open || unpinned ? CircleAlert : Check;
  return (
    <div className={classes("flex gap-2 rounded-t-md p-3", look)}>
      <Icon
        aria-hidden
        className={classes(
          "mt-0.5 size-4 shrink-0",
          broken.length ? "text-danger" : open || unpinned ? "text-warning" : "text-good",
        )}
      />
      <div>
        <p className="font-medium">{verdictWords(broken, open, unpinned)}</p>
        <p className="text-ink-2">{meaning(broken.length, open, unpinned)}</p>
      </div>
    </div>
  );
}

function verdictWords(broken: readonly Link[], open: number, unpinned: boolean): string {
  if (broken.length) return `Broken at: ${broken.map((link) => LINK_WORDS[link.name].title).join(", ")}`;
  if (open) return "Nothing is broken, but not everything was checked";
  return unpinned
    ? "Nothing is broken, and the data are not pinned"
    : "Complete: everything that can be derived holds";
}

function meaning(broken: number, open: number, unpinned: boolean): string {
  if (broken) return "This capsule does not prove what it says. Do not rely on its numbers.";
  if (unpinned) {
    return "The rows stay in the database, where they can change. The signed answer is what it gave then; copy the tables to pin them.";
  }
  if (open) return `${count(open, "link")} could not be checked here; the reasons are below.`;
  return "It was derived again from the data. How the question was read is for you to check.";
}

function LinkRow({ link }: { link: Link }) {
  const { icon: Icon, word, colour } = MARKS[link.status];
  const { title, claim } = LINK_WORDS[link.name];
  return (
    <li data-link={link.name} data-state={link.status} className="flex gap-2 px-3 py-2">
      <Icon aria-hidden className={classes("mt-0.5 size-4 shrink-0", colour)} />
      <div className="min-w-0 flex-1">
        <p className="flex justify-between gap-2">
          <span>{title}</span>
          <span className={classes("text-small", colour)}>{word}</span>
        </p>
        <p className="break-words text-ink-3 text-small first-letter:uppercase">{link.detail || claim}</p>
      </div>
    </li>
  );
}
