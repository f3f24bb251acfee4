import { Search } from "lucide-react";
import { type ComponentProps, useId } from "react";
import type { WrongField } from "~/api/problem";
import { sentence } from "~/format";
import { classes } from "./classes";
import { CodeWords } from "./code_words";

const LOOK =
  "rounded-md border border-control bg-page px-2.5 text-ink placeholder:text-ink-3 disabled:opacity-50 aria-invalid:border-danger";

/** Every field has a label, shown or not. */
export function Input({ label, className, ...rest }: ComponentProps<"input"> & { label: string }) {
  return <input aria-label={label} className={classes(LOOK, "h-8 min-w-0", className)} {...rest} />;
}

export function TextArea({ label, className, ...rest }: ComponentProps<"textarea"> & { label: string }) {
  return <textarea aria-label={label} className={classes(LOOK, "block min-w-0 py-1", className)} {...rest} />;
}

interface SearchInputProps extends Omit<ComponentProps<"input">, "value" | "onChange" | "type"> {
  label: string;
  value: string;
  onText: (text: string) => void;
  /** Of the field; `className` is of the place it stands in. */
  fieldClassName?: string;
}

/** Escape empties it. */
export function SearchInput({ value, onText, className, fieldClassName, ...rest }: SearchInputProps) {
  return (
    <div className={classes("relative", className)}>
      <Search
        aria-hidden
        className="-translate-y-1/2 pointer-events-none absolute top-1/2 left-2 size-4 text-ink-3"
      />
      <Input
        type="search"
        value={value}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && onText("")}
        className={classes("w-full pl-8", fieldClassName)}
        {...rest}
      />
    </div>
  );
}

export function Select({ label, className, ...rest }: ComponentProps<"select"> & { label: string }) {
  return <select aria-label={label} className={classes(LOOK, "h-8 pr-1", className)} {...rest} />;
}

interface FieldProps extends Omit<ComponentProps<"input">, "id"> {
  label: string;
  /** What the server says is wrong with it. */
  wrong?: WrongField | undefined;
}

/** A field with its label above it, and below it what is wrong with it. */
export function Field({ label, wrong, className, ...rest }: FieldProps) {
  const id = useId();
  const about = `${id}wrong`;
  return (
    <div className={classes("min-w-0 space-y-1", className)}>
      <label htmlFor={id} className="block text-ink-2">
        {label}
      </label>
      <input
        id={id}
        className={classes(LOOK, "h-8 w-full min-w-0")}
        {...(wrong ? { "aria-invalid": true, "aria-describedby": about } : {})}
        {...rest}
      />
      {wrong && (
        <p id={about} role="alert" className="break-words text-danger">
          <CodeWords text={`${sentence(wrong.message)} ${sentence(wrong.suggestion)}`.trim()} />
        </p>
      )}
    </div>
  );
}
