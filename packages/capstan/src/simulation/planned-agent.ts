import { type Agent, defineAgent } from "../agent.ts";
import { AgentError } from "../errors.ts";
import type { Entry } from "../history.ts";
import type { Chunk, Model } from "../model.ts";
import type { SchemaInput } from "../schema/schema.ts";
import { defineTool, type Tool, type ToolContext } from "../tool.ts";
import type { AuditedStore } from "./audited-store.ts";
import type { Deeds } from "./deeds.ts";
import { checkHistory } from "./fact-audit.ts";
import { kinds, type PlannedRun, type PlannedTurn, plannedCall } from "./plan.ts";
import type { Worker } from "./worker.ts";
import type { World } from "./world.ts";

/** What an agent needs to know of its world. */
export type Surroundings = {
  readonly world: World;
  readonly worker: Worker;
  readonly audited: AuditedStore;
  readonly runs: readonly PlannedRun[];
  readonly deeds: Deeds;
  /** How often a turn was asked for, by anybody: some troubles pass. */
  readonly asked: Map<string, number>;
};

/** The agent of one process. It knows what to say from the history alone. */
export function plannedAgent(surroundings: Surroundings): Agent {
  const tools = shapes.map((shape) => toolOf(shape, surroundings));
  const agent = defineAgent({ name: "planned", model: plannedModel(surroundings), tools });
  return guarded(agent, surroundings.world);
}

/** A loop that goes round without waiting for anything would never come back to us. */
function guarded(agent: Agent, world: World): Agent {
  const { tools } = agent;
  let moment = -1;
  let looks = 0;
  return Object.defineProperty({ ...agent }, "tools", {
    enumerable: true,
    get() {
      looks = moment === world.scheduler.fired ? looks + 1 : 0;
      moment = world.scheduler.fired;
      if (looks < 5000) return tools;
      world.violate("the loop comes to an end or waits", "it goes round in circles");
      throw new Error("The loop goes round in circles.");
    },
  });
}

function plannedModel({ world, worker, audited, runs, asked }: Surroundings): Model {
  return {
    id: "planned",
    async *stream({ history }) {
      checkHistory(world, [...history]);
      const { run, turn } = placeIn(history, runs);
      if (!run) return world.violate("the history is valid", "it does not say what was asked");
      const audit = audited.facts.runs.get(run.runId);
      const isStale = audited.leases.holder(run.session)?.worker !== worker.name;
      if (!isStale && (audit?.messages ?? 0) > turn)
        world.violate("a completed step is never performed again", `turn ${turn + 1} of ${run.runId}`);
      world.note(worker.name, `asks the model for turn ${turn + 1} of ${run.runId}`);
      const id = `${run.runId}/${turn}`;
      const times = asked.get(id) ?? 0;
      asked.set(id, times + 1);
      const planned = run.turns[turn];
      const isTroubled = planned !== undefined && times < planned.troubles;
      for (const batch of isTroubled ? troubled(planned) : spoken(planned)) {
        await worker.sleep(world.chance.below(20));
        yield batch;
      }
      if (isTroubled && planned.trouble === "breaks")
        throw new AgentError("model_unreachable", "The connection broke.");
    },
  };
}

/** Which run this is the history of, and how many turns it has behind it. */
function placeIn(
  history: readonly Entry[],
  runs: readonly PlannedRun[],
): { run: PlannedRun | undefined; turn: number } {
  const start = history.findLastIndex(
    (entry) => entry.type === "user" && planText.test(String(entry.content)),
  );
  const [, number] = planText.exec(String((history[start] as { content?: unknown })?.content)) ?? [];
  const turn = history.slice(start).filter((entry) => entry.type === "assistant").length;
  return { run: runs[Number(number)], turn };
}

const planText = /^plan (\d+)$/;

function troubled({ trouble }: PlannedTurn): readonly (readonly Chunk[])[] {
  if (trouble === "overloaded") throw new AgentError("model_overloaded", "Too much to do.");
  return [[{ type: "text", text: "I was about" }]];
}

function* spoken(planned: PlannedTurn | undefined): Generator<readonly Chunk[]> {
  if (!planned || planned.words) yield [{ type: "text", text: planned ? "Let me see." : "Here you are." }];
  for (const [index, { tool, n, hasBadArguments }] of (planned?.calls ?? []).entries()) {
    const written = hasBadArguments ? `{"n":"${n}` : JSON.stringify({ n });
    yield [
      { type: "call_start", index, name: tool },
      { type: "call_delta", index, text: written },
    ];
  }
  const usage = { inputTokens: 10, outputTokens: 5 };
  yield [
    { type: "usage", usage },
    { type: "finish", reason: planned ? "tool_calls" : "stop" },
  ];
}

type Input = { readonly n: number };

/** Checked by hand: the validator of JSON Schema is loaded when it is needed, and nobody knows how long that takes. */
const numbered: SchemaInput = {
  "~standard": {
    version: 1,
    vendor: "simulation",
    validate: (value: unknown) =>
      typeof (value as Partial<Input>)?.n === "number"
        ? { value: value as Input }
        : { issues: [{ message: "n must be a number" }] },
  },
} as SchemaInput;

const shapes: readonly Tool[] = Object.entries(kinds).map(
  ([name, { effects, idempotent, needsApproval }]) =>
    defineTool({
      name,
      description: name,
      input: numbered,
      jsonSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      ...(effects && { effects }),
      ...(idempotent && { idempotent }),
      ...(needsApproval && { needsApproval }),
    }) as Tool,
);

function toolOf(shape: Tool, surroundings: Surroundings): Tool {
  if (kinds[shape.name]?.byClient) return shape;
  return {
    ...shape,
    execute: (input, context) => execute(shape.name, (input as Input).n, { ...surroundings, context }),
  };
}

async function execute(
  tool: string,
  n: number,
  { worker, runs, deeds, context }: Surroundings & { readonly context: ToolContext },
): Promise<unknown> {
  const call = plannedCall(runs, n);
  const deed = deeds.begin({ worker: worker.name, tool }, context);
  await worker.sleep(call?.ms ?? 0);
  if (context.signal.aborted && !call?.isStubborn) throw context.signal.reason;
  if (call?.outcome === "throw" || (call?.outcome === "once" && !deed.isRepeat)) {
    deed.end = "failed";
    throw new AgentError("tool_failed", `No ${n}.`);
  }
  if (context.answers.length < (kinds[tool]?.questions ?? 0)) {
    deed.end = "asked";
    return { ask: { message: `May I, for ${n}?`, state: context.answers.length } };
  }
  deed.end = "ok";
  return { done: n };
}
