// The frame of every page: a bar on top that stays, and below it what scrolls.
import { Menu as MenuIcon } from "lucide-react";
import { createContext, type ReactNode, useContext, useEffect } from "react";
import { classes, IconButton } from "~/ui";

export const DrawerContext = createContext<() => void>(() => undefined);

interface PageProps {
  /** Of the window; shown in the bar too, unless `bar` is given. */
  title: string;
  bar?: ReactNode;
  /** At the right end of the bar. */
  actions?: ReactNode;
  /** For pages that bring their own scrolling. */
  still?: boolean;
  children: ReactNode;
}

export function Page({ title, bar, actions, still = false, children }: PageProps) {
  useEffect(() => {
    document.title = title === "Sandtable" ? title : `${title} · Sandtable`;
  }, [title]);
  return (
    <>
      <TopBar actions={actions}>
        {/* Every page has one heading, also where the bar shows something else. */}
        <h1 className={bar ? "sr-only" : "truncate font-medium"}>{title}</h1>
        {bar}
      </TopBar>
      <div
        className={classes(
          "min-h-0 flex-1",
          still ? "flex flex-col" : "overflow-auto print:overflow-visible",
        )}
      >
        {children}
      </div>
    </>
  );
}

function TopBar({ children, actions }: { children: ReactNode; actions?: ReactNode }) {
  const openDrawer = useContext(DrawerContext);
  return (
    <header className="flex h-12 shrink-0 items-center gap-2 border-b px-3 md:px-4 print:px-0">
      <IconButton label="Open the menu" className="md:hidden print:hidden" onClick={openDrawer}>
        <MenuIcon />
      </IconButton>
      <div className="flex min-w-0 flex-1 items-center gap-2">{children}</div>
      {actions && <div className="flex shrink-0 items-center gap-1 print:hidden">{actions}</div>}
    </header>
  );
}
