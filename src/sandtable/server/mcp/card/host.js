// Messages between the card and the program that shows it: JSON-RPC over postMessage, as MCP Apps has it.
const VERSION = "2026-01-26";

export function connect(view, listeners) {
  const host = view.parent, waiting = new Map();
  let last = 0;

  const send = (message) => host.postMessage({ jsonrpc: "2.0", ...message }, "*");

  const request = (method, params) => new Promise((resolve, reject) => {
    const id = ++last;
    waiting.set(id, { resolve, reject });
    send({ id, method, params });
  });

  const notify = (method, params = {}) => send({ method, params });

  view.addEventListener("message", (event) => {
    const message = event.data;
    if (event.source !== host || message?.jsonrpc !== "2.0") return;
    if (message.method === undefined) {
      const { resolve, reject } = waiting.get(message.id) || {};
      waiting.delete(message.id);
      if (message.error) reject?.(new Error(message.error.message));
      else resolve?.(message.result);
      return;
    }
    listeners[message.method]?.(message.params || {});
    if (message.id === undefined) return;
    if (message.method === "ping" || message.method === "ui/resource-teardown") send({ id: message.id, result: {} });
    else send({ id: message.id, error: { code: -32601, message: "Method not found" } });
  });

  const greet = async () => {
    const found = await request("ui/initialize", {
      appInfo: { name: "sandtable-answer", version: "1" }, appCapabilities: {}, protocolVersion: VERSION,
    });
    listeners.greeted?.(found);
    notify("ui/notifications/initialized");
  };

  return { request, notify, greet };
}
