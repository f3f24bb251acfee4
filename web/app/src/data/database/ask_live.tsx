import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { databaseKeys, makeLive } from "~/api/databases";
import { keys } from "~/api/queries";
import { places } from "~/shell";
import { Button, ErrorNote, Spinner } from "~/ui";

interface AskLiveProps {
  /** Of the connected database. */
  name: string;
  tables: readonly string[];
  disabled: boolean;
  onDone: () => void;
}

/** Leaves tables where they are, and opens the dataset that asks there. */
export function AskLive({ name, tables, disabled, onDone }: AskLiveProps) {
  const live = useMakeLive(name);
  const navigate = useNavigate();
  const ask = () =>
    live.mutate(tables, {
      onSuccess: (made) => {
        onDone();
        void navigate(places.dataset(made.dataset_id));
      },
    });
  return (
    <>
      <Button disabled={disabled || tables.length === 0 || live.isPending} onClick={ask}>
        Ask the database itself
      </Button>
      {live.isPending && <Spinner label="Reading the columns" />}
      {live.error && (
        <div className="w-full">
          <ErrorNote error={live.error} />
        </div>
      )}
    </>
  );
}

export function useMakeLive(name: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (tables: readonly string[]) => makeLive(name, tables),
    onSuccess: (made) =>
      Promise.all([
        client.invalidateQueries({ queryKey: databaseKeys.all, exact: true }),
        client.invalidateQueries({ queryKey: keys.datasets }),
        client.invalidateQueries({ queryKey: keys.dataset(made.dataset_id) }),
      ]),
  });
}
