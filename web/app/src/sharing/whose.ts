import type { Sharing } from "~/api/model";

export interface Whose {
  /** Whether things belong to people here. */
  people: boolean;
  /** Whether the person may share, change and remove it. */
  mine: boolean;
  /** Who shared it; null for the person's own. */
  sharedBy: string | null;
}

/** Whose something is. An empty owner is everyone here. */
export function whoseOf(sharing: Sharing | undefined, owner: string | undefined): Whose {
  if (!sharing?.people) return { people: false, mine: true, sharedBy: null };
  const own = owner === sharing.user;
  return {
    people: true,
    mine: own || (sharing.admin && Boolean(owner)),
    sharedBy: own ? null : owner || null,
  };
}
