import {
  type Agent,
  AgentError,
  type Chunk,
  defineAgent,
  defineTool,
  type Entry,
  type Model,
  type SchemaInput,
  type Tool,
  type ToolContext,
} from "capstan";
import type { AuditedStore } from "./audited-store.ts";
import type { ExecutionLog } from "./execution-log.ts";
import { checkHistory } from "./fact-audit.ts";
import { findPlannedCall, type PlannedRun, type PlannedTurn, toolKinds } from "./plan.ts";
import type { SimulatedWorker } from "./simulated-worker.ts";
import type { World } from "./world.ts";

/** Dependencies of a planned agent. */
export type AgentContext = {
  readonly world: World;
  readonly worker: SimulatedWorker;
  readonly audited: AuditedStore;
  readonly runs: readonly PlannedRun[];
  readonly executionLog: ExecutionLog;
  /** Number of requests by turn, across workers: some failures are transient. */
  readonly attempts: Map<string, number>;
};

/** The agent of one worker. Its answers depend on the history alone. */
export function createPlannedAgent(context: AgentContext): Agent {
  const tools = toolDefinitions.map((shape) => createPlannedTool(shape, context));
  const agent = defineAgent({ name: "planned", model: createPlannedModel(context), tools });
  return withLoopGuard(agent, context.world);
}

/** Detects a loop that never waits, which would block the simulation. */
function withLoopGuard(agent: Agent, world: World): Agent {
  const { tools } = agent;
  let lastFired = -1;
  let reads = 0;
  return Object.defineProperty({ ...agent }, "tools", {
    enumerable: true,
    get() {
      reads = lastFired === world.scheduler.fired ? reads + 1 : 0;
      lastFired = world.scheduler.fired;
      if (reads < 5000) return tools;
      world.reportViolation("the loop ends or waits", "the loop never waits");
      throw new Error("The loop never waits.");
    },
  });
}

function createPlannedModel({ world, worker, audited, runs, attempts }: AgentContext): Model {
  return {
    id: "planned",
    async *stream({ history }) {
      checkHistory(world, [...history]);
      const { run, turn } = findPosition(history, runs);
      if (!run) return world.reportViolation("the history is valid", "it contains no plan");
      const audit = audited.facts.runs.get(run.runId);
      const isStale = audited.leases.findHolder(run.session)?.worker !== worker.name;
      if (!isStale && (audit?.messages ?? 0) > turn)
        world.reportViolation(
          "a completed step is never performed again",
          `turn ${turn + 1} of ${run.runId}`,
        );
      world.log(worker.name, `asks the model for turn ${turn + 1} of ${run.runId}`);
      const id = `${run.runId}/${turn}`;
      const times = attempts.get(id) ?? 0;
      attempts.set(id, times + 1);
      const planned = run.turns[turn];
      const isFailing = planned !== undefined && times < planned.failureCount;
      for (const batch of isFailing ? createFailingChunks(planned) : createChunks(planned)) {
        await worker.sleep(world.random.below(20));
        yield batch;
      }
      if (isFailing && planned.failure === "breaks")
        throw new AgentError("model_unreachable", "The connection broke.");
    },
  };
}

/** The run that a history belongs to, and its number of completed turns. */
function findPosition(
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

function createFailingChunks({ failure }: PlannedTurn): readonly (readonly Chunk[])[] {
  if (failure === "overloaded") throw new AgentError("model_overloaded", "The model is overloaded.");
  return [[{ type: "text", text: "I was about" }]];
}

function* createChunks(planned: PlannedTurn | undefined): Generator<readonly Chunk[]> {
  if (!planned || planned.hasText)
    yield [{ type: "text", text: planned ? "Let me see." : "Here is the answer." }];
  for (const [index, { tool, n, hasBadArguments }] of (planned?.calls ?? []).entries()) {
    const argumentsText = hasBadArguments ? `{"n":"${n}` : JSON.stringify({ n });
    yield [
      { type: "call_start", index, name: tool },
      { type: "call_delta", index, text: argumentsText },
    ];
  }
  const usage = { inputTokens: 10, outputTokens: 5 };
  yield [
    { type: "usage", usage },
    { type: "finish", reason: planned ? "tool_calls" : "stop" },
  ];
}

type Input = { readonly n: number };

/** Validated by hand: the JSON Schema validator is loaded lazily, which takes an unpredictable time. */
const numberSchema: SchemaInput = {
  "~standard": {
    version: 1,
    vendor: "simulation",
    validate: (value: unknown) =>
      typeof (value as Partial<Input>)?.n === "number"
        ? { value: value as Input }
        : { issues: [{ message: "n must be a number" }] },
  },
} as SchemaInput;

const toolDefinitions: readonly Tool[] = Object.entries(toolKinds).map(
  ([name, { effects, idempotent, needsApproval }]) =>
    defineTool({
      name,
      description: name,
      input: numberSchema,
      jsonSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      ...(effects && { effects }),
      ...(idempotent && { idempotent }),
      ...(needsApproval && { needsApproval }),
    }) as Tool,
);

function createPlannedTool(definition: Tool, agentContext: AgentContext): Tool {
  if (toolKinds[definition.name]?.byClient) return definition;
  return {
    ...definition,
    execute: (input, context) =>
      executePlannedCall(definition.name, (input as Input).n, { ...agentContext, context }),
  };
}

async function executePlannedCall(
  tool: string,
  n: number,
  { worker, runs, executionLog, context }: AgentContext & { readonly context: ToolContext },
): Promise<unknown> {
  const call = findPlannedCall(runs, n);
  const execution = executionLog.begin({ worker: worker.name, tool }, context);
  await worker.sleep(call?.ms ?? 0);
  if (context.signal.aborted && !call?.isStubborn) throw context.signal.reason;
  if (call?.outcome === "throw" || (call?.outcome === "once" && !execution.isRepeat)) {
    execution.outcome = "failed";
    throw new AgentError("tool_failed", `No ${n}.`);
  }
  if (context.answers.length < (toolKinds[tool]?.questions ?? 0)) {
    execution.outcome = "asked";
    return { ask: { message: `May I, for ${n}?`, state: context.answers.length } };
  }
  execution.outcome = "ok";
  return { done: n };
}
