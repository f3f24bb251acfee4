// Whether things belong to people here, and with whom one is shared.
import { queryOptions } from "@tanstack/react-query";
import { at, request } from "./http";
import type { SharesView, Sharing } from "./model";

export type SharedKind = SharesView["kind"];
export type Recipient = SharesView["shares"][number]["recipient"];
export type Right = SharesView["shares"][number]["right"];

export const sharingQuery = () =>
  queryOptions({
    queryKey: ["sharing"] as const,
    queryFn: ({ signal }) => request<Sharing>("/shares", { signal }),
    staleTime: 300_000,
  });

export const sharesKey = (kind: SharedKind, id: string) => ["sharing", kind, id] as const;

export const sharesQuery = (kind: SharedKind, id: string) =>
  queryOptions({
    queryKey: sharesKey(kind, id),
    queryFn: ({ signal }) => request<SharesView>(at("shares", kind, id), { signal }),
    staleTime: 5_000,
  });

export const share = (kind: SharedKind, id: string, recipient: Recipient, name: string, right: Right) =>
  request<SharesView>(at("shares", kind, id), { method: "PUT", body: { recipient, name, right } });

export const unshare = (kind: SharedKind, id: string, recipient: Recipient, name: string) =>
  request<SharesView>(at("shares", kind, id), { method: "DELETE", query: { recipient, name } });
