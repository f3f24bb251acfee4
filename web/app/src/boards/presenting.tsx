import { Minimize } from "lucide-react";
import { type ReactNode, useEffect, useEffectEvent, useRef } from "react";
import { createPortal } from "react-dom";
import { IconButton } from "~/ui";

interface PresentingProps {
  name: string;
  onEnd: () => void;
  children: ReactNode;
}

/** The board alone, over the whole screen where the browser allows it, else over the window. */
export function Presenting({ name, onEnd, children }: PresentingProps) {
  const place = useRef<HTMLDivElement>(null);
  const ended = useEffectEvent(onEnd);
  useEffect(() => {
    const element = place.current;
    // The page behind it cannot be reached meanwhile, by keys neither.
    const behind = document.getElementById("root");
    if (behind) behind.inert = true;
    element?.focus();
    // Where it is refused, the board covers the window all the same.
    element?.requestFullscreen?.().catch(() => undefined);
    const changed = () => document.fullscreenElement === null && ended();
    const pressed = (event: KeyboardEvent) => event.key === "Escape" && ended();
    document.addEventListener("fullscreenchange", changed);
    document.addEventListener("keydown", pressed);
    return () => {
      if (behind) behind.inert = false;
      document.removeEventListener("fullscreenchange", changed);
      document.removeEventListener("keydown", pressed);
      if (document.fullscreenElement) void document.exitFullscreen();
    };
  }, []);
  return createPortal(
    <div
      ref={place}
      tabIndex={-1}
      role="dialog"
      aria-modal="true"
      aria-label={`${name}, presented`}
      className="fixed inset-0 z-40 overflow-auto bg-page p-6 outline-none"
    >
      <div className="mb-4 flex items-center justify-between gap-4">
        <p className="truncate font-medium text-answer">{name}</p>
        <IconButton label="Stop presenting" keys="Escape" onClick={onEnd}>
          <Minimize />
        </IconButton>
      </div>
      {children}
    </div>,
    document.body,
  );
}
