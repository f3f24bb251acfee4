import { Braces, FileCheck, FileDown, FileText, Table2 } from "lucide-react";
import { DropdownMenu as Radix } from "radix-ui";
import { type ExportForm, exportAddress } from "~/api/rest";
import { Button, Menu } from "~/ui";

const FORMS: readonly { form: ExportForm; title: string; about: string; icon: typeof FileText }[] = [
  { form: "page", title: "Page that proves itself", about: "opens anywhere, prints as PDF", icon: FileCheck },
  { form: "markdown", title: "Markdown", about: "for documents", icon: FileText },
  { form: "notebook", title: "Notebook", about: "asks again in Python", icon: Braces },
  { form: "csv", title: "Tables as CSV", about: "in one ZIP archive", icon: Table2 },
];

/** The whole conversation as a file: links, so that they can be copied and opened like any other. */
export function ExportThread({ threadId }: { threadId: string }) {
  return (
    <Menu
      align="end"
      trigger={
        <Button kind="quiet" aria-label="Export">
          <FileDown aria-hidden />
          <span className="hidden sm:inline">Export</span>
        </Button>
      }
    >
      {FORMS.map(({ form, title, about, icon: Icon }) => (
        <Radix.Item key={form} asChild>
          <a
            href={exportAddress("threads", threadId, form)}
            download
            className="flex items-center gap-2 rounded px-2 py-1.5 outline-none data-[highlighted]:bg-hover [&_svg]:size-4"
          >
            <Icon aria-hidden />
            <span className="flex-1">{title}</span>
            <span className="ml-4 hidden text-ink-3 text-small sm:inline">{about}</span>
          </a>
        </Radix.Item>
      ))}
    </Menu>
  );
}
