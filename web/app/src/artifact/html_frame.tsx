// A stranger's HTML, in a frame of which nothing comes out: no scripts, an origin of its own, no loads, no links.
import { Maximize2 } from "lucide-react";
import { useMemo, useState } from "react";
import { useTheme } from "~/shell";
import { Dialog, IconButton } from "~/ui";
import { Framed } from "./framed";
import { heightFor, type Look, safePage } from "./safe_page";

// React does not know the attribute yet: whatever a frame might load, it would load without our cookies.
const CREDENTIALLESS = { credentialless: "" };

export function HtmlFrame({ html, title }: { html: string; title: string }) {
  const theme = useTheme();
  const [expanded, setExpanded] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the tokens follow the theme
  const page = useMemo(() => safePage(html, lookOf()), [html, theme]);
  const height = useMemo(() => heightFor(html), [html]);
  return (
    <Framed
      title={title}
      actions={
        <IconButton label={`Expand ${title}`} size="smallIcon" onClick={() => setExpanded(true)}>
          <Maximize2 />
        </IconButton>
      }
    >
      <div className="min-h-24 resize-y overflow-hidden" style={{ height }}>
        <SealedFrame page={page} title={title} />
      </div>
      <Dialog
        open={expanded}
        onOpenChange={setExpanded}
        title={title}
        className="top-4 h-[calc(100dvh-32px)] max-h-none max-w-[calc(100vw-32px)]"
      >
        <div className="h-[calc(100dvh-120px)] overflow-hidden rounded-md border">
          <SealedFrame page={page} title={title} />
        </div>
      </Dialog>
    </Framed>
  );
}

function SealedFrame({ page, title }: { page: string; title: string }) {
  return (
    <iframe
      title={title}
      srcDoc={page}
      // Nothing is allowed: not scripts, not our origin, not forms, windows, downloads or leading the page away.
      sandbox=""
      allow=""
      referrerPolicy="no-referrer"
      loading="lazy"
      {...CREDENTIALLESS}
      className="block h-full w-full"
    />
  );
}

function lookOf(): Look {
  const root = document.documentElement;
  const tokens = getComputedStyle(root);
  const token = (name: string) => tokens.getPropertyValue(`--${name}`).trim();
  return {
    ink: token("ink"),
    page: token("page"),
    line: token("line"),
    font: token("font-sans") || "system-ui, sans-serif",
    dark: root.dataset.theme === "dark",
  };
}
