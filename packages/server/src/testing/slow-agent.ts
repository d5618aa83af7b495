import { existsSync } from "node:fs";
import { type Agent, defineAgent, defineTool, type Model, type ModelRequest } from "capstan";

/** What a run of the slow agent does, turn by turn; it is asked for as JSON. */
export type SlowPlan = readonly {
  readonly say?: string;
  /** A file: the message does not end before it exists. */
  readonly waitFor?: string;
  /** `look` takes a moment, `pay` needs an approval, `screen` is the client's. */
  readonly call?: "look" | "pay" | "screen";
}[];

const wordMs = 12;
const lookMs = 60;

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });

/** An agent that does what its input says, word by word. It follows from the history alone, so any process can go on. */
export function slowAgent(canary: (line: string) => void): Agent {
  const look = defineTool({
    name: "look",
    description: "Looks",
    input: { type: "object" },
    effects: "none",
    async execute(_, { signal, idempotencyKey }) {
      await pause(lookMs, signal);
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
    const step = planIn(history)[turn];
    const { say = "", waitFor, call } = step ?? { say: lastWords(history) };
    for (const text of say.match(/\S+\s*/g) ?? []) {
      await pause(wordMs, signal);
      yield [{ type: "text", text }];
    }
    while (waitFor && !existsSync(waitFor)) await pause(wordMs, signal);
    if (call) yield [{ type: "call_start", index: 0, name: call }];
    if (call) yield [{ type: "call_delta", index: 0, text: JSON.stringify({ turn }) }];
    yield [
      { type: "usage", usage: { inputTokens: 1, outputTokens: 1 } },
      { type: "finish", reason: call ? "tool_calls" : "stop" },
    ];
  },
};

type History = ModelRequest["history"];

function textOf(content: string | readonly unknown[]): string {
  return typeof content === "string" ? content : "";
}

function planIn(history: History): SlowPlan {
  const [first] = history.filter((entry) => entry.type === "user");
  return JSON.parse(textOf(first?.content ?? "[]"));
}

/** What it was told on the way, and what its calls gave. */
function lastWords(history: History): string {
  const told = history.filter((entry) => entry.type === "user").slice(1);
  const results = history.filter((entry) => entry.type === "result");
  return ["Done:", ...[...told, ...results].map(({ content }) => textOf(content))].join(" ");
}
