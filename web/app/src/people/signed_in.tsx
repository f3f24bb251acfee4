import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Me } from "~/api/model";
import { meQuery } from "~/api/queries";
import { Page } from "~/shell";
import { Missing } from "~/shell/missing";
import { ErrorNote, SkeletonLines } from "~/ui";

/** A page about people. Where no one signs in, there is none. */
export function SignedIn({ title, children }: { title: string; children: (me: Me) => ReactNode }) {
  const me = useQuery(meQuery());
  if (me.data && !me.data.signs_in) return <Missing />;
  return (
    <Page title={title}>
      <div className="mx-auto max-w-4xl p-4 md:p-6">
        {me.isPending && <SkeletonLines lines={8} label="Loading who you are" />}
        {me.error && <ErrorNote error={me.error} onRetry={() => me.refetch()} />}
        {me.data && children(me.data)}
      </div>
    </Page>
  );
}
