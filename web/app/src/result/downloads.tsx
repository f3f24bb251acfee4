import { Download } from "lucide-react";
import { DropdownMenu as Radix } from "radix-ui";
import { IconButton, Menu } from "~/ui";

const FORMATS = [
  { ending: "csv", title: "CSV", about: "for spreadsheets" },
  { ending: "parquet", title: "Parquet", about: "with exact types" },
  { ending: "json", title: "JSON", about: "for programs" },
] as const;

/** The run's rows as the server keeps them: links, so that they can be copied and opened like any other. */
export function Downloads({ runId }: { runId: string }) {
  return (
    <Menu
      align="end"
      trigger={
        <IconButton label="Download" size="smallIcon">
          <Download />
        </IconButton>
      }
    >
      {FORMATS.map(({ ending, title, about }) => (
        <Radix.Item key={ending} asChild>
          <a
            href={`/runs/${encodeURIComponent(runId)}/result.${ending}`}
            download
            className="flex items-baseline justify-between gap-6 rounded px-2 py-1.5 outline-none data-[highlighted]:bg-hover"
          >
            {title} <span className="text-ink-3 text-small">{about}</span>
          </a>
        </Radix.Item>
      ))}
    </Menu>
  );
}
