import {
  type Agent,
  agentTool,
  defineAgent,
  defineTool,
  type Entry,
  systemClock,
  type Tool,
  type ToolContext,
  toPlainText,
} from "capstan";
import { sleep } from "capstan/internal/verification";
import { scriptedModel } from "capstan/testing";
import type { ReachPoint } from "./breakpoints.ts";
import type { TraceWriter } from "./execution-trace.ts";

type ToolKind = Pick<Tool, "effects" | "idempotent"> & {
  readonly ms: number | "long";
  readonly needsApproval?: true;
};

export type ToolName =
  | `${"" | "slow_" | "long_"}${"look" | "pay"}`
  | "charge"
  | "slow_charge"
  | "sign"
  | "exhaust_heap"
  | "kill_process";

/**
 * `look` may be repeated, `charge` and `sign` are idempotent, `pay` must not run twice. `exhaust_heap` and `kill_process`
 * crash their process.
 */
export const crashTools: { readonly [Name in ToolName]: ToolKind } = {
  look: { effects: "none", ms: 0 },
  slow_look: { effects: "none", ms: 60 },
  charge: { effects: "send", idempotent: true, ms: 0 },
  slow_charge: { effects: "send", idempotent: true, ms: 60 },
  pay: { effects: "send", ms: 0 },
  slow_pay: { effects: "send", ms: 60 },
  sign: { effects: "send", idempotent: true, ms: 0, needsApproval: true },
  long_look: { effects: "none", ms: "long" },
  long_pay: { effects: "send", ms: "long" },
  exhaust_heap: { effects: "none", ms: 0 },
  kill_process: { effects: "none", ms: 0 },
};

/**
 * `handoff` passes the run on to a second agent, which continues the plan; `helper` is a sub-agent with its own plan, and
 * `background_helper` the same one in the background.
 */
export type PlannedCall = ToolName | "handoff" | "helper" | "background_helper";

/** Calls by turn. */
export type PlannedCalls = readonly (readonly PlannedCall[])[];

/** What a helper does: parallel calls of each kind. */
export const helperPlan: PlannedCalls = [["slow_look", "slow_pay"], ["charge"]];

export type CrashAgentOptions = {
  readonly trace: TraceWriter;
  readonly reach: ReachPoint;
  /** Version of the tool descriptions. Default: 1. */
  readonly version?: number;
  readonly instructions?: string;
  readonly name?: string;
  /** A tool that this process does not have. */
  readonly omittedTool?: ToolName;
  /** Duration of the `long_` tools. Default: 0. */
  readonly longMs?: number;
};

/**
 * An agent that makes the planned calls turn by turn. Its answers depend on the history alone, so any process can
 * resume.
 */
export function createCrashAgent(options: CrashAgentOptions): Agent {
  const model = scriptedModel(({ history }) => {
    const question = getQuestion(history);
    const plan: PlannedCalls = JSON.parse(question.slice(question.indexOf("[")));
    const turn = history.filter(({ type }) => type === "assistant").length;
    const calls = plan[turn]?.map((name, index) => ({ name, input: createInput(name, `${turn}.${index}`) }));
    return calls ? { calls, delayMs: 3, split: 8 } : { text: formatStatuses(history), delayMs: 3, split: 8 };
  });
  const tools = Object.entries(crashTools)
    .filter(([name]) => name !== options.omittedTool)
    .map(([name, kind]) => createCrashTool(name, kind, options));
  const { name = "planned", instructions = "" } = options;
  const policy = { gate: "off", onBusy: "queue", toolTimeoutMs: 3_600_000 } as const;
  const helper = defineAgent({ name: "helper", model, tools, policy });
  const helpers = [agentTool(helper), agentTool(helper, { name: "background_helper", background: true })];
  const second = defineAgent({ name: "second", model, tools: [...tools, ...helpers], policy });
  return defineAgent({
    ...{ name, model, instructions, policy },
    tools: [...tools, ...helpers],
    handoffs: () => [second],
  });
}

function createInput(name: PlannedCall, place: string): Record<string, string> {
  if (name === "handoff") return { agent: "second" };
  return name.endsWith("helper") ? { prompt: `${place} ${JSON.stringify(helperPlan)}` } : { place };
}

function getQuestion(history: readonly Entry[]): string {
  const question = history.find((entry) => entry.type === "user");
  return toPlainText(question?.content ?? "");
}

/** The statuses of all results, which show what the model knows about its calls. */
function formatStatuses(history: readonly Entry[]): string {
  const statuses = history.flatMap((entry) => (entry.type === "result" ? entry.status : []));
  return `Calls: ${statuses.join(" ") || "none"}`;
}

function createCrashTool(name: string, { ms, ...kind }: ToolKind, options: CrashAgentOptions): Tool {
  const { version = 1, longMs = 0 } = options;
  return defineTool({
    ...kind,
    name,
    description: version === 1 ? `Does: ${name}` : `Does: ${name}, version ${version}`,
    input: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
    reads: ["public"],
    execute: (_, context) => recordExecution(name, ms === "long" ? longMs : ms, { ...options, context }),
  });
}

async function recordExecution(
  tool: string,
  ms: number,
  { trace, reach, context }: CrashAgentOptions & { readonly context: ToolContext },
): Promise<string> {
  const { idempotencyKey: key, signal } = context;
  const line = { key, tool, pid: process.pid };
  trace.write({ what: "begin", ...line });
  try {
    if (ms > 0) await sleep(systemClock, ms, signal);
  } catch (error) {
    trace.write({ what: "aborted", ...line });
    throw error;
  }
  if (tool === "exhaust_heap") exhaustHeap();
  if (tool === "kill_process") process.kill(process.pid, "SIGKILL");
  reach("before_effect");
  trace.write({ what: "effect", ...line });
  reach("after_effect");
  trace.write({ what: "end", ...line });
  return `Done: ${key}`;
}

function exhaustHeap(): never {
  const kept: string[][] = [];
  for (;;) kept.push(Array.from({ length: 10_000 }, (_, index) => `${kept.length}.${index}`));
}
