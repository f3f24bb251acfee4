import { useMutation, useQueryClient } from "@tanstack/react-query";
import {
  Download,
  FileCheck,
  Link2,
  PanelRight,
  Pencil,
  RotateCw,
  Share2,
  Square,
  UserPlus,
} from "lucide-react";
import { useState } from "react";
import { useNavigate } from "react-router";
import { hasEnded, type RunView } from "~/api/model";
import { problemOf } from "~/api/problem";
import { keys } from "~/api/queries";
import { cancelRun, capsuleAddress, createRun, exportAddress } from "~/api/rest";
import { pythonOf } from "~/artifact/python_of";
import { useCommandList } from "~/commands";
import { KeepButton } from "~/keeping/keep_button";
import { ShareDialog } from "~/sharing/share_dialog";
import { useWhose } from "~/sharing/use_sharing";
import { places, useDetails } from "~/shell";
import { Button, Menu, MenuItem, MenuLine } from "~/ui";

/** What can be done with a run, at the end of the bar. */
export function RunActions({ run }: { run: RunView }) {
  const details = useDetails();
  const cancel = useCancel(run);
  const again = useAgain(run);
  const ended = hasEnded(run.status);
  // The same would be refused again: what helps is to change it.
  const refused = run.status === "rejected";
  const editable = refused && (run.plan !== null || run.sql !== null);
  const edit = () => details.open(run.run_id, run.plan ? "plan" : "sql");
  useCommandList([
    ...(editable ? [{ id: "run.edit", title: "Edit this run", run: edit }] : []),
    ...(ended ? [] : [{ id: "run.stop", title: "Stop this run", keys: ".", run: () => cancel.mutate() }]),
    ...(ended && !refused ? [{ id: "run.again", title: "Run this again", run: () => again.mutate() }] : []),
  ]);
  const failure = cancel.error ?? again.error;
  return (
    <>
      {failure && (
        <span role="alert" className="hidden max-w-60 truncate text-danger text-small sm:block">
          {problemOf(failure).message}
        </span>
      )}
      {!ended && (
        <Button kind="danger" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
          <Square aria-hidden />
          {cancel.isPending ? "Stopping" : "Stop"}
        </Button>
      )}
      {editable && (
        <Button kind="quiet" onClick={edit} aria-label="Edit">
          <Pencil aria-hidden />
          <span className="hidden sm:inline">Edit</span>
        </Button>
      )}
      {ended && !refused && (
        <Button kind="quiet" disabled={again.isPending} onClick={() => again.mutate()} aria-label="Run again">
          <RotateCw aria-hidden />
          <span className="hidden sm:inline">Run again</span>
        </Button>
      )}
      {run.status === "succeeded" && run.mode !== "dry_run" && (
        <KeepButton runId={run.run_id} name={run.question || "Kept answer"} />
      )}
      <ShareMenu run={run} />
      <Button kind="quiet" onClick={() => details.open(run.run_id)} aria-label="Open details">
        <PanelRight aria-hidden />
        <span className="hidden sm:inline">Details</span>
      </Button>
    </>
  );
}

function useCancel(run: RunView) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => cancelRun(run.run_id),
    onSuccess: (view) => {
      client.setQueryData(keys.run(run.run_id), view);
      return client.invalidateQueries({ queryKey: keys.runs });
    },
  });
}

function asked(run: RunView) {
  const python = pythonOf(run);
  if (python !== null) return { python, ...("names" in run ? { names: run.names } : {}) };
  return run.plan ? { plan: run.plan } : { sql: run.sql };
}

/** The same once more, not answered from an earlier run. */
function useAgain(run: RunView) {
  const go = useNavigate();
  return useMutation({
    mutationFn: () =>
      createRun({
        dataset_id: run.dataset_id,
        question: run.question,
        mode: run.mode,
        cache: false,
        chart: true,
        ...asked(run),
      }),
    onSuccess: (view) => go(places.run(view.run_id)),
  });
}

const FORMATS = ["csv", "parquet", "json"] as const;

function ShareMenu({ run }: { run: RunView }) {
  const [said, setSaid] = useState("");
  const [sharing, setSharing] = useState(false);
  const { people, mine } = useWhose()(run.asked_by.name ?? undefined);
  const address = new URL(places.run(run.run_id), window.location.href).href;
  const copyLink = async () => {
    try {
      await navigator.clipboard.writeText(address);
      setSaid("Link copied");
    } catch {
      // Without https, or when it is forbidden, a browser gives no clipboard.
      setSaid("The browser does not allow copying; the link is the address of this page");
    }
    setTimeout(() => setSaid(""), 2500);
  };
  return (
    <>
      <span role="status" className="max-w-40 text-ink-2 text-small">
        {said}
      </span>
      <Menu
        align="end"
        trigger={
          <Button kind="quiet" aria-label="Share">
            <Share2 aria-hidden />
            <span className="hidden sm:inline">Share</span>
          </Button>
        }
      >
        {people && mine && (
          <MenuItem onSelect={() => setTimeout(() => setSharing(true), 0)}>
            <UserPlus aria-hidden /> With people here
          </MenuItem>
        )}
        <MenuItem onSelect={copyLink}>
          <Link2 aria-hidden /> Copy link
        </MenuItem>
        {hasEnded(run.status) && (
          <MenuItem onSelect={() => download(capsuleAddress(run.run_id))}>
            <Download aria-hidden /> Capsule file, with proof
          </MenuItem>
        )}
        {hasEnded(run.status) && (
          <MenuItem onSelect={() => download(exportAddress("runs", run.run_id, "page"))}>
            <FileCheck aria-hidden /> Page that proves itself
          </MenuItem>
        )}
        {run.rows && (
          <>
            <MenuLine />
            {FORMATS.map((format) => (
              <MenuItem
                key={format}
                onSelect={() => download(`/runs/${encodeURIComponent(run.run_id)}/result.${format}`)}
              >
                <Download aria-hidden /> Rows as {format === "parquet" ? "Parquet" : format.toUpperCase()}
              </MenuItem>
            ))}
          </>
        )}
      </Menu>
      {people && mine && (
        <ShareDialog kind="run" id={run.run_id} title="this run" open={sharing} onOpenChange={setSharing} />
      )}
    </>
  );
}

/** The server names the file. */
function download(address: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = "";
  link.click();
}
