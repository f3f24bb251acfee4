import { Copy } from "~/ui";

/** The password that the server made: it is nowhere else. */
export function MadePassword({ name, password }: { name: string; password: string }) {
  return (
    <div role="status" className="wrap-anywhere space-y-2">
      <p>
        This is the password of {name}. It is shown this once: give it to them. They must change it when they
        sign in.
      </p>
      <p className="flex items-center gap-2 rounded-md border bg-panel p-2">
        <code className="min-w-0 flex-1 break-all font-mono">{password}</code>
        <Copy text={password} label="Copy the password" />
      </p>
    </div>
  );
}
