import { bytes } from "~/format";

/** How far it is; without a total, only what is being done. */
export function Progress({ what, done, total }: { what: string; done: number; total: number }) {
  const share = total > 0 ? Math.min(1, done / total) : null;
  return (
    <div className="space-y-1">
      <div
        role="progressbar"
        aria-label={what}
        aria-valuemin={0}
        aria-valuemax={100}
        {...(share === null ? {} : { "aria-valuenow": Math.round(share * 100) })}
        className="h-1.5 overflow-hidden rounded bg-sunken"
      >
        <div
          className={share === null ? "h-full w-1/3 animate-breathe bg-accent" : "h-full bg-accent"}
          style={share === null ? undefined : { width: `${share * 100}%` }}
        />
      </div>
      <p className="text-ink-2 text-small tabular-nums">
        {what}
        {share !== null && `, ${bytes(done)} of ${bytes(total)}`}
        {share === null && done > 0 && `, ${bytes(done)}`}
      </p>
    </div>
  );
}
