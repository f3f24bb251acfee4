import { Database, History, LayoutDashboard, Plus } from "lucide-react";
import { lazy, type ReactNode, Suspense } from "react";
import { NavLink } from "react-router";
import { commands } from "~/commands";
import { Boundary } from "~/shell/boundary";
import { places } from "~/shell/places";
import { Button, classes, Keys, SkeletonLines } from "~/ui";
import { AccountMenu } from "./account_menu";
import { ThemeMenu } from "./theme_menu";

const ThreadList = lazy(() => import("~/threads/list"));

/** `onGo`: something was opened; the drawer closes then. */
export function Sidebar({ onGo }: { onGo?: (() => void) | undefined }) {
  return (
    <nav aria-label="Main" className="flex min-h-0 flex-1 flex-col bg-panel">
      <div className="flex h-12 shrink-0 items-center gap-2 px-4">
        <Mark />
        <span className="font-semibold">Sandtable</span>
      </div>
      <div className="px-2 pb-2">
        <Button
          className="w-full justify-start px-2"
          onClick={() => {
            commands.run("thread.new");
            onGo?.();
          }}
        >
          <Plus aria-hidden />
          New question
        </Button>
      </div>
      <div className="min-h-0 flex-1 overflow-auto px-2">
        <Boundary>
          <Suspense fallback={<SkeletonLines label="Loading threads" />}>
            <ThreadList onGo={onGo} />
          </Suspense>
        </Boundary>
      </div>
      <div className="shrink-0 border-t p-2">
        <Place to={places.boards} icon={<LayoutDashboard aria-hidden />} onGo={onGo}>
          Boards
        </Place>
        <Place to={places.data} icon={<Database aria-hidden />} onGo={onGo}>
          Data
        </Place>
        <Place to={places.runs} icon={<History aria-hidden />} onGo={onGo}>
          Runs
        </Place>
        <div className="mt-1 flex items-center justify-between">
          <div className="flex">
            <ThemeMenu />
            <AccountMenu onGo={onGo} />
          </div>
          <Button kind="quiet" size="small" onClick={() => commands.run("palette.open")}>
            Commands <Keys keys="mod+k" />
          </Button>
        </div>
      </div>
    </nav>
  );
}

function Place({ to, icon, onGo, children }: PlaceProps) {
  return (
    <NavLink
      to={to}
      {...(onGo ? { onClick: onGo } : {})}
      className={({ isActive }) =>
        classes(
          "flex h-8 items-center gap-2 rounded-md px-2 text-ink-2 transition-colors hover:bg-hover hover:text-ink [&_svg]:size-4",
          isActive && "bg-hover font-medium text-ink",
        )
      }
    >
      {icon}
      {children}
    </NavLink>
  );
}

interface PlaceProps {
  to: string;
  icon: ReactNode;
  onGo: (() => void) | undefined;
  children: ReactNode;
}

const Mark = () => (
  <svg aria-hidden="true" viewBox="0 0 16 16" className="size-4 text-accent" fill="currentColor">
    <path d="M1 13h14v1.5H1zM2 9h3v3H2zM6.5 5h3v7h-3zM11 1.5h3V12h-3z" />
  </svg>
);
