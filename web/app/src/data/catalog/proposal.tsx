import type { ReactNode } from "react";
import { Button } from "~/ui";

interface ProposalProps {
  title: ReactNode;
  /** What is used or not, for those who do not see where the buttons stand. */
  name: string;
  /** Follows “Because”. */
  reason: string;
  onUse: () => void;
  onDismiss: () => void;
}

/** What the data suggest, with the reason. Nothing is used before a person agrees. */
export function Proposal({ title, name, reason, onUse, onDismiss }: ProposalProps) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-md border border-accent/30 bg-accent-soft px-3 py-2">
      <span className="min-w-48 flex-1">
        <span className="block break-words">{title}</span>
        <span className="block break-words text-ink-2 text-small">Because {reason}</span>
      </span>
      <span className="flex gap-2">
        <Button size="small" onClick={onUse} aria-label={`Use it: ${name}`}>
          Use it
        </Button>
        <Button size="small" kind="quiet" onClick={onDismiss} aria-label={`Not now: ${name}`}>
          Not now
        </Button>
      </span>
    </li>
  );
}

export function Proposals({ label, children }: { label: string; children: ReactNode[] }) {
  if (children.length === 0) return null;
  return (
    <ul aria-label={label} className="space-y-2">
      {children}
    </ul>
  );
}
