import { existsSync } from "node:fs";
import { type Agent, defineAgent, defineTool, type Model, type ModelRequest } from "capstan";

/** Turns of the slow agent; the run's input is this as JSON. */
export type SlowPlan = readonly {
  readonly say?: string;
  /** File that must exist before the message ends. */
  readonly waitFor?: string;
  /** `look` takes a moment, `pay` needs approval, `screen` runs at the client. */
  readonly call?: "look" | "pay" | "screen";
}[];

const wordMs = 12;
const lookMs = 60;

const waitMs = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });

/**
 * Creates an agent that follows the plan in its input, word by word. The next step depends on the history only, so
 * any process can continue a run.
 */
export function createSlowAgent(canary: (line: string) => void): Agent {
  const look = defineTool({
    name: "look",
    description: "Looks",
    input: { type: "object" },
    effects: "none",
    async execute(_, { signal, idempotencyKey }) {
      await waitMs(lookMs, signal);
      canary(`look ${idempotencyKey}`);
      return "seen";
    },
  });
  const pay = defineTool({
    name: "pay",
    description: "Pays",
    input: { type: "object" },
    effects: "send",
    needsApproval: "It costs money.",
    execute(_, { idempotencyKey }) {
      canary(`pay ${idempotencyKey}`);
      return "paid";
    },
  });
  const screen = defineTool({
    name: "screen",
    description: "Moves the map on the screen",
    input: { type: "object" },
  });
  return defineAgent({
    name: "slow",
    model,
    tools: [look, pay, screen],
    policy: { gate: "off", maxTurns: 50 },
  });
}

const model: Model = {
  id: "slow",
  async *stream({ history }, { signal }) {
    const turn = history.filter(({ type }) => type === "assistant").length;
    const step = parsePlan(history)[turn];
    const { say = "", waitFor, call } = step ?? { say: formatSummary(history) };
    for (const text of say.match(/\S+\s*/g) ?? []) {
      await waitMs(wordMs, signal);
      yield [{ type: "text", text }];
    }
    while (waitFor && !existsSync(waitFor)) await waitMs(wordMs, signal);
    if (call) yield [{ type: "call_start", index: 0, name: call }];
    if (call) yield [{ type: "call_delta", index: 0, text: JSON.stringify({ turn }) }];
    yield [
      { type: "usage", usage: { inputTokens: 1, outputTokens: 1 } },
      { type: "finish", reason: call ? "tool_calls" : "stop" },
    ];
  },
};

type History = ModelRequest["history"];

function toText(content: string | readonly unknown[]): string {
  return typeof content === "string" ? content : "";
}

function parsePlan(history: History): SlowPlan {
  const [first] = history
    .filter((entry) => entry.type === "user")
    .filter(({ provenance }) => provenance !== "operator");
  return JSON.parse(toText(first?.content ?? "[]"));
}

/** Lists steering messages and tool results. */
function formatSummary(history: History): string {
  const told = history.filter((entry) => entry.type === "user").slice(1);
  const results = history.filter((entry) => entry.type === "result");
  return ["Done:", ...[...told, ...results].map(({ content }) => toText(content))].join(" ");
}
