import { ShieldAlert, ShieldCheck } from "lucide-react";
import type { DatabaseLook } from "~/api/model";
import { sentence } from "~/format";
import { CodeWords } from "~/ui";

/** What was found of the role of a connected database. */
export function RoleResult({ look }: { look: DatabaseLook }) {
  const { role, encrypted, overruled, remarks } = look;
  const how = encrypted ? "The connection is encrypted." : "The connection is not encrypted.";
  return (
    <section aria-label="What the role can do" className="space-y-1">
      {overruled.length === 0 ? (
        <p className="flex items-start gap-2">
          <ShieldCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-good" />
          <span className="wrap-anywhere">{role} can only read.</span>
        </p>
      ) : (
        <div className="text-danger">
          <p className="flex items-start gap-2 font-medium">
            <ShieldAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
            <span className="wrap-anywhere">{role} can do more than read, and was allowed all the same.</span>
          </p>
          <ul className="list-disc space-y-0.5 pl-9">
            {overruled.map((reason) => (
              <li key={reason} className="wrap-anywhere">
                <CodeWords text={sentence(reason)} />
              </li>
            ))}
          </ul>
        </div>
      )}
      <ul className="pl-6 text-ink-3 text-small">
        {[how, ...remarks].map((remark) => (
          <li key={remark} className="wrap-anywhere">
            <CodeWords text={remark} />
          </li>
        ))}
      </ul>
    </section>
  );
}
