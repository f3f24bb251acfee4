// The session as a runtime of assistant-ui: its primitives show what the session knows and ask it to act.
import {
  type AppendMessage,
  AssistantRuntimeProvider,
  type ThreadMessage,
  useExternalStoreRuntime,
} from "@assistant-ui/react";
import { type ReactNode, useMemo, useState } from "react";
import { Messages } from "./messages";
import { useSession, useSessionState } from "./use_session";

export function Runtime({ children }: { children: ReactNode }) {
  const session = useSession();
  const tree = useSessionState((state) => state.tree);
  const head = useSessionState((state) => state.head);
  const running = useSessionState((state) => state.live !== null);
  const [messages] = useState(() => new Messages());
  const repository = useMemo(() => messages.repository(tree, head), [messages, tree, head]);
  const runtime = useExternalStoreRuntime<ThreadMessage>({
    messageRepository: repository,
    isRunning: running,
    // New questions do not come this way: `Composer` asks the session itself.
    onNew: async () => undefined,
    onEdit: async (message) => {
      if (message.sourceId) await session.edit(message.sourceId, textOf(message));
    },
    onReload: async (parentId) => {
      if (parentId) await session.again(parentId);
    },
    onCancel: () => session.stop(),
    // Branches are the session's; having this is what lets a person switch between them.
    setMessages: () => undefined,
    unstable_onBranchChange: ({ headId }) => {
      if (headId) session.show(headId);
    },
  });
  return <AssistantRuntimeProvider runtime={runtime}>{children}</AssistantRuntimeProvider>;
}

const textOf = (message: AppendMessage): string =>
  message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
