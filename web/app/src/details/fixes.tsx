import { Wand2 } from "lucide-react";
import { Button, CodeWords } from "~/ui";
import type { Fix } from "./verdict";

interface FixesProps {
  fixes: readonly Fix[];
  onFix: (fix: Fix) => void;
  disabled?: boolean;
}

/** Corrections, one click away each. */
export function Fixes({ fixes, onFix, disabled = false }: FixesProps) {
  if (fixes.length === 0) return null;
  return (
    <div className="flex flex-wrap gap-2 pt-1">
      {fixes.map((fix) => (
        <Button
          key={fix.title}
          size="small"
          disabled={disabled}
          className="h-auto min-h-7 max-w-full shrink whitespace-normal py-1 text-left"
          onClick={() => onFix(fix)}
        >
          <Wand2 aria-hidden />
          <span className="min-w-0">
            <CodeWords text={fix.title} />
          </span>
        </Button>
      ))}
    </div>
  );
}
