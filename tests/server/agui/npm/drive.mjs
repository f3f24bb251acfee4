// Drives @ag-ui/client's HttpAgent: reads steps as JSON lines, and writes what came of each as a JSON line.
import { createInterface } from "node:readline";
import { HttpAgent } from "@ag-ui/client";

// The client reports failed runs there, too; the answers below have them.
console.error = () => {};
const agents = new Map();

function agentOf({ agent: name, url, threadId }) {
  if (!agents.has(name)) {
    const agent = new HttpAgent({ url, threadId });
    agents.set(name, agent);
  }
  return agents.get(name);
}

async function run(step) {
  const agent = agentOf(step);
  for (const [id, content] of step.say ?? []) agent.messages.push({ id, role: "user", content });
  const events = [];
  const subscriber = {
    onEvent: ({ event }) => {
      events.push(event);
      if (event.type === step.abortAt) agent.abortRun();
    },
  };
  let result = null;
  let failure = null;
  try {
    result = (await agent.runAgent({ runId: step.runId, forwardedProps: step.props, resume: step.resume }, subscriber)).result;
  } catch (error) {
    failure = { message: String(error.message ?? error), status: error.status ?? null };
  }
  return {
    events,
    failure,
    result: result ?? null,
    messages: agent.messages,
    state: agent.state,
    pending: agent.pendingInterrupts,
    threadId: agent.threadId,
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await run(JSON.parse(line)))}\n`);
}
