import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleCheck, X } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { Link, useLocation, useNavigate } from "react-router";
import { databaseKeys } from "~/api/databases";
import { forgetImport, importQuery } from "~/api/imports";
import type { Import } from "~/api/model";
import { keys } from "~/api/queries";
import { count } from "~/format";
import { places } from "~/shell";
import { ErrorNote, IconButton } from "~/ui";
import { Asked } from "./asked";
import { Progress } from "./progress";
import { dismiss, type Transfer } from "./transfers";

/** One arrival of files, from the first byte to the dataset. */
export function TransferCard({ transfer }: { transfer: Transfer }) {
  const found = useQuery({ ...importQuery(transfer.importId ?? ""), enabled: transfer.importId !== null });
  const made = found.data;
  const close = () => {
    transfer.stop();
    if (made && made.state !== "ready") void forgetImport(made.id);
  };
  useFresh(made);
  useOpened(transfer.opens ? made : undefined);
  return (
    <article className="rounded-md border border-line-strong bg-page p-3 shadow-none">
      <header className="flex items-start gap-2">
        <h2 className="min-w-0 flex-1 truncate font-medium leading-8">{transfer.title}</h2>
        <IconButton label={closing(made)} size="smallIcon" onClick={close}>
          <X />
        </IconButton>
      </header>
      <Body transfer={transfer} made={made} error={transfer.error ?? found.error} />
    </article>
  );
}

function Body({ transfer, made, error }: { transfer: Transfer; made: Import | undefined; error: unknown }) {
  if (error) return <ErrorNote error={error} />;
  if (!made) return <Progress what="Sending" done={transfer.sent} total={transfer.total} />;
  if (made.state === "asks") return <Asked made={made} />;
  if (made.state === "failed" && made.problem) return <ErrorNote error={made.problem} />;
  if (made.state === "ready" && made.dataset_id) return <Ready made={made} transferKey={transfer.key} />;
  if (made.state === "cancelled") return <p className="text-ink-2">It was cancelled.</p>;
  const { what = "reading", done = 0, total = 0 } = made.progress ?? {};
  return <Progress what={DOING[what] ?? "Reading"} done={done} total={total} />;
}

const DOING: Record<string, string> = {
  waiting: "Waiting",
  fetching: "Fetching",
  copying: "Copying",
  reading: "Reading",
  converting: "Reading",
};

function Ready({ made, transferKey }: { made: Import; transferKey: number }) {
  const id = made.dataset_id ?? "";
  const left = () => dismiss(transferKey);
  return (
    <div className="space-y-2">
      <p className="flex items-center gap-2">
        <CircleCheck aria-hidden className="size-4 shrink-0 text-good" />
        <span className="min-w-0 truncate">{id} is ready.</span>
      </p>
      <Lines lines={[...made.changes, ...made.notes]} />
      {made.misfits.length > 0 && (
        <p className="text-small text-warning">
          {count(made.misfits.length, "cell")} did not fit: see how the file was read.
        </p>
      )}
      <p className="flex flex-wrap gap-x-4">
        <Goes to={`${places.ask}?${new URLSearchParams({ dataset: id })}`} onGo={left}>
          Ask about it
        </Goes>
        <Goes to={`${places.dataset(id)}?view=reading`} onGo={left}>
          See how it was read
        </Goes>
      </p>
    </div>
  );
}

function Lines({ lines }: { lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <ul className="list-disc space-y-0.5 pl-4 text-ink-2 text-small">
      {lines.slice(0, 6).map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

const Goes = ({ to, onGo, children }: { to: string; onGo: () => void; children: ReactNode }) => (
  <Link to={to} onClick={onGo} className="text-accent underline underline-offset-2">
    {children}
  </Link>
);

function closing(made: Import | undefined): string {
  if (!made || made.state === "reading") return "Cancel";
  return made.state === "asks" ? "Discard" : "Close";
}

/** A dataset that is new, or has a new version, is shown everywhere at once. */
function useFresh(made: Import | undefined): void {
  const client = useQueryClient();
  const version = made?.state === "ready" ? made.version : null;
  useEffect(() => {
    if (!version) return;
    void client.invalidateQueries({ queryKey: keys.datasets });
    void client.invalidateQueries({ queryKey: databaseKeys.all, exact: true });
  }, [client, version]);
}

/** Shows the new dataset to a person who waits for it in the list. */
function useOpened(made: Import | undefined): void {
  const go = useNavigate();
  const { pathname } = useLocation();
  const id = made?.state === "ready" ? made.dataset_id : null;
  const gone = useRef(false);
  useEffect(() => {
    if (!id || gone.current) return;
    gone.current = true;
    if (pathname.replace(/\/$/, "") === places.data) go(places.dataset(id));
  }, [id, pathname, go]);
}
