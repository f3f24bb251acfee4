import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "react-router";
import type { Dataset, DatasetSchema } from "~/api/model";
import { profileQuery } from "~/api/queries";
import { Button, Empty, ErrorNote, SearchInput } from "~/ui";
import { findIn } from "./search";
import { TableView } from "./table_view";

interface TableListProps {
  dataset: Dataset;
  schema: UseQueryResult<DatasetSchema>;
}

export function TableList({ dataset, schema }: TableListProps) {
  const [parameters] = useSearchParams();
  const [text, setText] = useState("");
  const profile = useQuery(profileQuery(dataset.id));
  const named = parameters.get("table");
  const found = findIn(dataset.tables, text);
  return (
    <div className="space-y-4">
      <SearchInput
        label="Search tables and columns"
        placeholder="Search tables and columns"
        value={text}
        onText={setText}
        className="md:max-w-sm"
      />
      {profile.error && <ErrorNote error={profile.error} onRetry={() => profile.refetch()} />}
      {found.length === 0 && (
        <Empty title={`Nothing here is called “${text}”`}>
          <Button size="small" onClick={() => setText("")}>
            Show everything
          </Button>
        </Empty>
      )}
      {found.map(({ table, columns }, place) => (
        <TableView
          // A search opens what it found.
          key={`${table.name}-${text !== ""}`}
          dataset={dataset}
          table={table}
          columns={columns}
          profile={profile}
          schema={schema}
          opened={text !== "" || (named ? named === table.name : place === 0)}
        />
      ))}
    </div>
  );
}
