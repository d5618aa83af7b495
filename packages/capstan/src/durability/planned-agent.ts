import { type Agent, defineAgent } from "../agent.ts";
import { sleep, systemClock } from "../clock.ts";
import { type Entry, toPlainText } from "../history.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { defineTool, type Tool, type ToolContext } from "../tool.ts";
import type { Reach } from "./breakpoints.ts";
import type { Canary } from "./canary.ts";

type Kind = Pick<Tool, "effects" | "idempotent"> & {
  readonly ms: number | "long";
  readonly needsApproval?: true;
};

export type ToolName = `${"" | "slow_" | "long_"}${"look" | "pay"}` | "charge" | "slow_charge" | "sign";

/** `look` may be repeated, `charge` and `sign` know their key, `pay` must not happen twice. */
export const kinds: { readonly [Name in ToolName]: Kind } = {
  look: { effects: "none", ms: 0 },
  slow_look: { effects: "none", ms: 60 },
  charge: { effects: "send", idempotent: true, ms: 0 },
  slow_charge: { effects: "send", idempotent: true, ms: 60 },
  pay: { effects: "send", ms: 0 },
  slow_pay: { effects: "send", ms: 60 },
  sign: { effects: "send", idempotent: true, ms: 0, needsApproval: true },
  long_look: { effects: "none", ms: "long" },
  long_pay: { effects: "send", ms: "long" },
};

/** The calls of each turn. */
export type PlannedCalls = readonly (readonly ToolName[])[];

export type World = {
  readonly canary: Canary;
  readonly reach: Reach;
  /** Another version of the code describes its tools in other words, */
  readonly version?: number;
  /** gives the agent other instructions, */
  readonly instructions?: string;
  /** another name, */
  readonly name?: string;
  /** or no such tool. */
  readonly without?: ToolName;
  /** How long the long tools take; at once when left out. */
  readonly longMs?: number;
};

/** Calls what its input says, turn by turn. What it says follows from the history alone, so any process can go on. */
export function plannedAgent(world: World): Agent {
  const model = scriptedModel(({ history }) => {
    const plan: PlannedCalls = JSON.parse(questionOf(history));
    const turn = history.filter(({ type }) => type === "assistant").length;
    const calls = plan[turn]?.map((name, index) => ({ name, input: { place: `${turn}.${index}` } }));
    return calls ? { calls, delayMs: 3, split: 8 } : { text: answerOf(history), delayMs: 3, split: 8 };
  });
  return defineAgent({
    name: world.name ?? "planned",
    model,
    instructions: world.instructions ?? "",
    tools: Object.entries(kinds)
      .filter(([name]) => name !== world.without)
      .map(([name, kind]) => toolOf(name, kind, world)),
    policy: { gate: "off", toolTimeoutMs: 3_600_000 },
  });
}

function questionOf(history: readonly Entry[]): string {
  const question = history.find((entry) => entry.type === "user");
  return toPlainText(question?.content ?? "");
}

/** What the model knows of its calls. */
function answerOf(history: readonly Entry[]): string {
  const statuses = history.flatMap((entry) => (entry.type === "result" ? entry.status : []));
  return `Calls: ${statuses.join(" ") || "none"}`;
}

function toolOf(name: string, { ms, ...kind }: Kind, world: World): Tool {
  const { version = 1, longMs = 0 } = world;
  return defineTool({
    ...kind,
    name,
    description: version === 1 ? `Does: ${name}` : `Does: ${name}, version ${version}`,
    input: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
    reads: ["public"],
    execute: (_, context) => execute(name, ms === "long" ? longMs : ms, { ...world, context }),
  });
}

async function execute(
  tool: string,
  ms: number,
  { canary, reach, context }: World & { readonly context: ToolContext },
): Promise<string> {
  const { idempotencyKey: key, signal } = context;
  const line = { key, tool, pid: process.pid };
  canary.write({ what: "begin", ...line });
  try {
    if (ms > 0) await sleep(systemClock, ms, signal);
  } catch (error) {
    canary.write({ what: "aborted", ...line });
    throw error;
  }
  reach("before_effect");
  canary.write({ what: "effect", ...line });
  reach("after_effect");
  canary.write({ what: "end", ...line });
  return `Did it: ${key}`;
}
