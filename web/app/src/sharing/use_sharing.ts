import { useQuery } from "@tanstack/react-query";
import { sharingQuery } from "~/api/sharing";
import { type Whose, whoseOf } from "./whose";

export function useWhose(): (owner: string | undefined) => Whose {
  const { data } = useQuery(sharingQuery());
  return (owner) => whoseOf(data, owner);
}
