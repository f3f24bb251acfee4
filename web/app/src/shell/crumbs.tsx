import { ArrowLeft } from "lucide-react";
import { Link } from "react-router";

/** Where a page belongs, with the way back there. The page's own title is its heading; here it is only seen. */
export function Crumbs({ to, parent, title }: { to: string; parent: string; title: string }) {
  return (
    <span className="flex min-w-0 items-center gap-2">
      <Link to={to} className="flex shrink-0 items-center gap-1 text-ink-2 hover:text-ink [&_svg]:size-4">
        <ArrowLeft aria-hidden />
        {parent}
      </Link>
      <span aria-hidden className="text-ink-3">
        /
      </span>
      <span aria-hidden className="truncate font-medium">
        {title}
      </span>
    </span>
  );
}
