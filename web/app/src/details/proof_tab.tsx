// Why the answer can be believed: the capsule and its links, the walls around the run, its limits.
import { useMutation, useQuery } from "@tanstack/react-query";
import { Download, FileCheck, Link as LinkIcon, ShieldCheck } from "lucide-react";
import { useState } from "react";
import { hasEnded, MARKS, type Mark, type RunView } from "~/api/model";
import { capsuleQuery, keysQuery } from "~/api/queries";
import { capsuleAddress, exportAddress, verifyRun } from "~/api/rest";
import { useCommand } from "~/commands";
import { places } from "~/shell";
import { Button, CodeText, ErrorNote, SkeletonLines, Spinner } from "~/ui";
import { layerWords, limitsInWords, pinWords, sealedIn } from "./capsule";
import { Fact, Facts, Section } from "./facts";
import { ReportList } from "./report_list";
import { VerifyFile } from "./verify_file";

const LINK_LOOK =
  "inline-flex h-8 items-center gap-2 rounded-md border border-line-strong bg-page px-3 text-ink transition-colors hover:bg-hover [&_svg]:size-4";

export function ProofTab({ run }: { run: RunView }) {
  return (
    <div className="space-y-6">
      {hasEnded(run.status) ? (
        <Capsule run={run} />
      ) : (
        <p className="text-ink-2">The capsule is sealed when the run ends.</p>
      )}
      {run.question && hasEnded(run.status) && <Trust marks={run.trust} />}
      <VerifyFile />
      {hasEnded(run.status) && <Walls run={run} />}
      <Section title="Limits">
        <Facts>
          {limitsInWords(run.limits).map(({ name, text }) => (
            <Fact key={name} name={name}>
              {text}
            </Fact>
          ))}
        </Facts>
      </Section>
      <PublicKey />
    </div>
  );
}

function Capsule({ run }: { run: RunView }) {
  const verified = useMutation({ mutationFn: () => verifyRun(run.run_id) });
  const capsule = useQuery(capsuleQuery(run.run_id));
  const sealed = capsule.data ? sealedIn(capsule.data) : null;
  useCommand({ id: "details.verify", title: "Verify the capsule", run: () => verified.mutate() });
  return (
    <Section title="Capsule">
      <p className="text-ink-2">
        The signed record of this run. Verifying derives everything again: signature, data, what ran, verdict,
        rows. The page is one file for a browser: it shows the answer and checks it without a server.
      </p>
      {sealed && <p className="text-ink-2">{pinWords(sealed)}</p>}
      <div className="flex flex-wrap items-center gap-2">
        <Button kind="primary" disabled={verified.isPending} onClick={() => verified.mutate()}>
          <ShieldCheck aria-hidden />
          Verify
        </Button>
        <a href={capsuleAddress(run.run_id)} download={`${run.run_id}.capsule.json`} className={LINK_LOOK}>
          <Download aria-hidden />
          Download capsule
        </a>
        <a href={exportAddress("runs", run.run_id, "page")} download className={LINK_LOOK}>
          <FileCheck aria-hidden />
          Download page
        </a>
        <CopyLink address={places.run(run.run_id)} />
        {verified.isPending && <Spinner label="Verifying" />}
      </div>
      {verified.error && <ErrorNote error={verified.error} onRetry={() => verified.mutate()} />}
      {verified.data && <ReportList report={verified.data} />}
    </Section>
  );
}

/** What no capsule can prove, and what is known of it all the same. */
function Trust({ marks }: { marks: readonly Mark[] }) {
  return (
    <Section title="How the question became the query">
      <p className="text-ink-2">
        A reading, check it: a capsule proves what ran, not that it is what was meant.
      </p>
      {marks.length > 0 && (
        <Facts>
          {marks.map((mark) => (
            <Fact key={mark} name={MARKS[mark].word}>
              {MARKS[mark].means}
            </Fact>
          ))}
        </Facts>
      )}
    </Section>
  );
}

function CopyLink({ address }: { address: string }) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(new URL(address, location.href).href);
      setSaid("Copied");
    } catch {
      // Without https, or when it is forbidden, a browser gives no clipboard.
      setSaid("The browser does not allow copying");
    }
    setTimeout(() => setSaid(""), 1500);
  };
  return (
    <>
      <Button onClick={copy}>
        <LinkIcon aria-hidden />
        {said || "Copy link"}
      </Button>
      <span role="status" className="sr-only">
        {said}
      </span>
    </>
  );
}

function Walls({ run }: { run: RunView }) {
  const capsule = useQuery(capsuleQuery(run.run_id));
  const sealed = capsule.data ? sealedIn(capsule.data) : null;
  return (
    <Section title="Isolation">
      {capsule.isPending && <SkeletonLines lines={5} />}
      {capsule.error && <ErrorNote error={capsule.error} onRetry={() => capsule.refetch()} />}
      {capsule.data && !sealed?.isolation.length && (
        <p className="text-ink-2">The run ended before it came into a sandbox.</p>
      )}
      {sealed && sealed.isolation.length > 0 && (
        <>
          <p className="text-ink-2">
            {sealed.engine} in a sealed sandbox, behind {sealed.isolation.length} layers:
          </p>
          <ul className="divide-y rounded-md border">
            {sealed.isolation.map((layer) => (
              <li key={layer} className="flex flex-wrap justify-between gap-x-4 px-3 py-1.5">
                <span>{layerWords(layer) ?? layer}</span>
                <code className="font-mono text-ink-3 text-small leading-5">{layer}</code>
              </li>
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}

function PublicKey() {
  const all = useQuery(keysQuery());
  return (
    <Section title="Public key">
      {all.isPending && <SkeletonLines lines={2} />}
      {all.error && <ErrorNote error={all.error} onRetry={() => all.refetch()} />}
      {all.data?.keys.map((key) => (
        <div key={key.keyid} className="space-y-2">
          <p className="text-ink-2">
            {key.algorithm}, id <code className="font-mono text-[13px]">{key.keyid.slice(0, 16)}</code>
          </p>
          <CodeText label="the public key" text={key.pem.trim()} />
        </div>
      ))}
    </Section>
  );
}
