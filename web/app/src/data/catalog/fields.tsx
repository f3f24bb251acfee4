// The fields of the catalog. Each has a label that is shown, and a longer name that is read aloud.
import { X } from "lucide-react";
import { type ReactNode, useId } from "react";
import { classes, IconButton, Input, Select, TextArea } from "~/ui";

interface FieldProps {
  title: string;
  /** What it is about, for those who do not see where it stands: `Unit of amount`. */
  of: string;
  value: string;
  onChange: (value: string) => void;
  /** What the data show, where people said something else. */
  found?: string | undefined;
  hint?: ReactNode;
  className?: string | undefined;
}

function Labelled({
  title,
  found,
  hint,
  value,
  onChange,
  className,
  children,
}: Omit<FieldProps, "of"> & { children: ReactNode }) {
  return (
    <div className={classes("min-w-0", className)}>
      <span aria-hidden className="mb-0.5 block text-ink-3 text-small">
        {title}
      </span>
      {children}
      {hint && <p className="mt-0.5 text-ink-3 text-small">{hint}</p>}
      {found && found !== value && (
        <button
          type="button"
          onClick={() => onChange(found)}
          className="mt-0.5 min-h-6 text-left text-accent text-small underline"
        >
          As the data show: {found}
        </button>
      )}
    </div>
  );
}

export function TextField({ of, ...rest }: FieldProps) {
  return (
    <Labelled {...rest}>
      <Input
        label={`${rest.title} of ${of}`}
        value={rest.value}
        onChange={(event) => rest.onChange(event.target.value)}
        className="w-full"
      />
    </Labelled>
  );
}

export function AreaField({ of, ...rest }: FieldProps) {
  return (
    <Labelled {...rest}>
      <TextArea
        label={`${rest.title} of ${of}`}
        value={rest.value}
        rows={2}
        onChange={(event) => rest.onChange(event.target.value)}
        className="w-full"
      />
    </Labelled>
  );
}

interface ChoiceFieldProps extends FieldProps {
  choices: readonly (readonly [value: string, title: string])[];
}

export function ChoiceField({ of, choices, ...rest }: ChoiceFieldProps) {
  return (
    <Labelled {...rest}>
      <Select
        label={`${rest.title} of ${of}`}
        value={rest.value}
        onChange={(event) => rest.onChange(event.target.value)}
        className="w-full"
      >
        {choices.map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </Select>
    </Labelled>
  );
}

interface ColumnsFieldProps {
  title: string;
  of: string;
  chosen: readonly string[];
  columns: readonly string[];
  onChange: (chosen: string[]) => void;
  hint?: string;
}

/** Several columns, in an order. */
export function ColumnsField({ title, of, chosen, columns, onChange, hint }: ColumnsFieldProps) {
  const id = useId();
  const left = columns.filter((column) => !chosen.includes(column));
  return (
    <fieldset className="min-w-0" aria-describedby={hint ? id : undefined}>
      <legend className="mb-0.5 text-ink-3 text-small">{title}</legend>
      <div className="flex flex-wrap items-center gap-1.5">
        {chosen.map((column) => (
          <span
            key={column}
            className="inline-flex items-center rounded-md border bg-panel pl-2 font-mono text-[13px]"
          >
            {column}
            <IconButton
              size="smallIcon"
              label={`Take ${column} out of the key`}
              onClick={() => onChange(chosen.filter((one) => one !== column))}
            >
              <X />
            </IconButton>
          </span>
        ))}
        {left.length > 0 && (
          <Select
            label={`Add a column to the ${title.toLowerCase()} of ${of}`}
            value=""
            onChange={(event) => event.target.value && onChange([...chosen, event.target.value])}
            className="max-w-full"
          >
            <option value="">{chosen.length > 0 ? "and …" : "Choose a column"}</option>
            {left.map((column) => (
              <option key={column}>{column}</option>
            ))}
          </Select>
        )}
      </div>
      {hint && (
        <p id={id} className="mt-0.5 text-ink-3 text-small">
          {hint}
        </p>
      )}
    </fieldset>
  );
}
