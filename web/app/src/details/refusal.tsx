import { Diamond } from "lucide-react";
import type { ReactNode } from "react";

/** What the gate refused: help, not an alarm. */
export const Refusal = ({ children }: { children: ReactNode }) => (
  <div className="flex gap-3 rounded-md border border-warning/40 bg-warning-soft p-3">
    <Diamond aria-hidden className="mt-0.5 size-4 shrink-0 text-warning" />
    <div className="min-w-0 flex-1 space-y-1 break-words">
      <p className="font-medium text-warning">Refused</p>
      {children}
    </div>
  </div>
);
