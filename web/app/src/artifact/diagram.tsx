// A Mermaid diagram as a picture. As an image it can run nothing and load nothing, whatever names are in it.
import mermaid from "mermaid";
import { type ReactNode, useEffect, useId, useState } from "react";
import { type Theme, useTheme } from "~/shell";
import { Skeleton } from "~/ui";

interface Picture {
  address: string;
  width: number;
  height: number;
}

interface DiagramProps {
  text: string;
  label: string;
  /** Where it cannot be drawn. */
  instead?: ReactNode;
}

export default function Diagram({ text, label, instead }: DiagramProps) {
  const theme = useTheme();
  const id = `diagram-${useId().replace(/[^A-Za-z0-9]/g, "")}`;
  const [picture, setPicture] = useState<Picture | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    let wanted = true;
    setFailed(false);
    drawn(id, text, theme)
      .then((made) => wanted && setPicture(made))
      .catch(() => wanted && setFailed(true));
    return () => {
      wanted = false;
    };
  }, [id, text, theme]);
  if (failed)
    return (
      instead ?? <p className="text-ink-2">The diagram cannot be drawn. The list below says the same.</p>
    );
  if (!picture) return <Skeleton className="h-64" />;
  return (
    <section
      aria-label="Diagram"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      className="overflow-auto rounded-md border bg-page p-4"
    >
      <img
        src={picture.address}
        alt={label}
        width={picture.width}
        height={picture.height}
        className="mx-auto h-auto max-w-none"
      />
    </section>
  );
}

async function drawn(id: string, text: string, theme: Theme): Promise<Picture> {
  const themeVariables = colours(theme);
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    htmlLabels: false,
    suppressErrorRendering: true,
    theme: "base",
    darkMode: theme === "dark",
    themeVariables,
    fontFamily: "system-ui, sans-serif",
    er: { useMaxWidth: false },
  });
  const { svg } = await mermaid.render(id, text);
  return asPicture(svg, themeVariables.background);
}

/** Mermaid takes no CSS variables: it computes further colours from these. */
function colours(theme: Theme) {
  const tokens = getComputedStyle(document.documentElement);
  const token = (name: string) => tokens.getPropertyValue(`--${name}`).trim();
  return {
    darkMode: theme === "dark",
    background: token("page"),
    mainBkg: token("panel"),
    primaryColor: token("panel"),
    primaryTextColor: token("ink"),
    primaryBorderColor: token("control"),
    nodeBorder: token("control"),
    lineColor: token("control"),
    textColor: token("ink"),
    tertiaryColor: token("page"),
    edgeLabelBackground: token("page"),
    rowOdd: token("page"),
    rowEven: token("panel"),
    attributeBackgroundColorOdd: token("page"),
    attributeBackgroundColorEven: token("panel"),
    fontSize: "14px",
  };
}

function asPicture(svg: string, page: string): Picture {
  const root = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const [, , width = 0, height = 0] = (root.getAttribute("viewBox") ?? "").split(/\s+/).map(Number);
  if (!width || !height) throw new Error("the diagram has no size");
  // The circles at the ends of lines are white in every theme.
  for (const circle of root.querySelectorAll("marker circle")) circle.setAttribute("fill", page);
  root.setAttribute("width", String(width));
  root.setAttribute("height", String(height));
  const text = new XMLSerializer().serializeToString(root);
  return { address: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`, width, height };
}
