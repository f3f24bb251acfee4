// What a page says when it has nothing to show, or when something went wrong.
import { CircleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { problemOf } from "~/api/problem";
import { sentence } from "~/format";
import { Button } from "./button";
import { classes } from "./classes";
import { CodeWords } from "./code_words";

interface EmptyProps {
  title: string;
  /** What the person can do about it. */
  children?: ReactNode;
  icon?: ReactNode;
}

export function Empty({ title, children, icon }: EmptyProps) {
  return (
    <div className="mx-auto flex max-w-md flex-col items-center gap-2 px-4 py-12 text-center text-ink-2">
      {icon && <div className="text-ink-3 [&_svg]:size-6">{icon}</div>}
      <p className="font-medium text-ink">{title}</p>
      {children}
    </div>
  );
}

interface ErrorNoteProps {
  /** Anything that was thrown, or a problem from the server. */
  error: unknown;
  onRetry?: (() => void) | undefined;
  /** Other ways out, beside trying again. */
  children?: ReactNode;
  className?: string;
}

export function ErrorNote({ error, onRetry, children, className }: ErrorNoteProps) {
  const problem = problemOf(error);
  return (
    <div
      role="alert"
      className={classes("flex gap-3 rounded-md border border-danger/40 bg-danger-soft p-3", className)}
    >
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-danger" />
      <div className="min-w-0 space-y-1">
        <p className="break-words">
          <CodeWords text={sentence(problem.message)} />
        </p>
        {problem.suggestion && (
          <p className="break-words text-ink-2">
            <CodeWords text={sentence(problem.suggestion)} />
          </p>
        )}
        {(onRetry || children) && (
          <div className="flex flex-wrap gap-2 pt-1">
            {onRetry && (
              <Button size="small" onClick={onRetry}>
                Try again
              </Button>
            )}
            {children}
          </div>
        )}
      </div>
    </div>
  );
}
