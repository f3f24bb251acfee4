// What stands around every page: sidebar, details, palette.
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useCallback, useEffect, useState } from "react";
import { Outlet, useLocation, useNavigate } from "react-router";
import { meQuery } from "~/api/queries";
import { KeySheet, useCommandKeys, useCommandList } from "~/commands";
import { DropAnywhere } from "~/imports/drop_anywhere";
import { Tray } from "~/imports/tray";
import { Boundary } from "~/shell/boundary";
import { useDetails, useSubject } from "~/shell/details";
import { SIDEBAR_STANDS, useWide } from "~/shell/media";
import { DrawerContext } from "~/shell/page";
import { places } from "~/shell/places";
import { chooseTheme, useTheme } from "~/shell/theme";
import { Sheet } from "~/ui";
import { DetailsPlace } from "./details_place";
import { Sidebar } from "./sidebar";

const loadPalette = () => import("~/commands/palette");
const Palette = lazy(loadPalette);
const RoomCommands = lazy(() => import("./room_commands"));

export function Frame() {
  const stands = useWide(SIDEBAR_STANDS);
  const [drawer, setDrawer] = useState(false);
  const [palette, setPalette] = useState(false);
  const [keySheet, setKeySheet] = useState(false);
  const details = useDetails();
  const { pathname } = useLocation();
  useCommandKeys();
  useFrameCommands({ openPalette: () => setPalette(true), openKeys: () => setKeySheet(true) });
  // Before it is wanted: what is typed while it is on its way would go to the page behind it.
  useEffect(() => void loadPalette(), []);
  const openDrawer = useCallback(() => setDrawer(true), []);
  return (
    <DrawerContext value={openDrawer}>
      <div className="flex h-dvh overflow-hidden print:block print:h-auto print:overflow-visible">
        {stands && (
          <div className="flex w-[260px] shrink-0 flex-col border-r print:hidden">
            <Sidebar />
          </div>
        )}
        <main className="flex min-w-0 flex-1 flex-col">
          <Boundary resetKey={pathname}>
            <Suspense fallback={null}>
              <Outlet />
            </Suspense>
          </Boundary>
        </main>
        <DetailsPlace details={details} />
      </div>
      {!stands && (
        <Sheet open={drawer} onOpenChange={setDrawer} title="Menu" side="left">
          <Sidebar onGo={() => setDrawer(false)} />
        </Sheet>
      )}
      {palette && (
        <Suspense fallback={null}>
          <Palette onClose={() => setPalette(false)} />
          <Suspense fallback={null}>
            <RoomCommands />
          </Suspense>
        </Suspense>
      )}
      <KeySheet open={keySheet} onOpenChange={setKeySheet} />
      <Tray />
      <DropAnywhere />
    </DrawerContext>
  );
}

function useFrameCommands({ openPalette, openKeys }: { openPalette: () => void; openKeys: () => void }) {
  const go = useNavigate();
  const theme = useTheme();
  const details = useDetails();
  const subject = useSubject();
  const me = useQuery(meQuery()).data;
  const other = theme === "dark" ? "light" : "dark";
  const toggled = details.runId
    ? { title: "Close details", run: details.close }
    : { title: "Show details", run: () => subject && details.open(subject) };
  useCommandList([
    { id: "thread.new", title: "New question", keys: "n", fallback: true, run: () => go(places.ask) },
    { id: "place.boards", title: "Go to boards", run: () => go(places.boards) },
    { id: "place.data", title: "Go to data", run: () => go(places.data) },
    { id: "place.runs", title: "Go to runs", run: () => go(places.runs) },
    ...(me?.signs_in
      ? [{ id: "place.account", title: "Go to your account", run: () => go(places.account) }]
      : []),
    ...(me?.signs_in && me.admin
      ? [{ id: "place.people", title: "Go to users and teams", run: () => go(places.people) }]
      : []),
    ...(details.runId || subject ? [{ id: "details.toggle", keys: "d", ...toggled }] : []),
    { id: "palette.open", title: "Search commands", keys: "mod+k", run: openPalette },
    { id: "keys.show", title: "Keyboard shortcuts", keys: "?", run: openKeys },
    { id: "theme.switch", title: `Use the ${other} theme`, run: () => chooseTheme(other) },
  ]);
}
