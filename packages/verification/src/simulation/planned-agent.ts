import {
  type Agent,
  AgentError,
  type Chunk,
  defineAgent,
  defineTool,
  type Entry,
  getText,
  type Model,
  type SchemaInput,
  type Tool,
  type ToolContext,
} from "capstan";
import type { AuditedStore } from "./audited-store.ts";
import { checkSolitude, type ExecutionLog } from "./execution-log.ts";
import { checkHistory } from "./fact-audit.ts";
import { rememberCall, rememberingTool } from "./memory-audit.ts";
import { findPlannedCall, listAnswerParts, type PlannedRun, type PlannedTurn, toolKinds } from "./plan.ts";
import { failRequest, findPlannedOutage, type PlannedOutage } from "./provider.ts";
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
  readonly outages: readonly PlannedOutage[];
  /** Whether a tool writes memories. */
  readonly hasMemories: boolean;
  /** Breaks the model, to show that the simulation can fail. */
  readonly mutateModel?: ((model: Model) => Model) | undefined;
};

/** The agent of one worker. Its answers depend on the history alone. */
export function createPlannedAgent(context: AgentContext): Agent {
  const tools = toolDefinitions.map((shape) => createPlannedTool(shape, context));
  const { mutateModel = (model: Model) => model } = context;
  const model = mutateModel(createPlannedModel(context));
  const agent = defineAgent({
    name: "planned",
    model,
    models: { summary: createSummaryModel(context) },
    tools,
  });
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

function createPlannedModel(context: AgentContext): Model {
  const { world, worker, audited, attempts, outages } = context;
  return {
    id: "planned",
    async *stream({ history }) {
      checkHistory(world, [...history]);
      const { run, turn, partial } = findPosition(context, history);
      if (!run) return world.reportViolation("the history is valid", "it contains no plan");
      const audit = audited.facts.runs.get(run.runId);
      const lease = audited.leases.findHolder(run.session);
      const isStale = lease?.worker !== worker.name;
      if (!isStale && (audit?.messages ?? 0) > turn)
        world.reportViolation(
          "a completed step is never performed again",
          `turn ${turn + 1} of ${run.runId}`,
        );
      const outage = findPlannedOutage(outages, world.scheduler.now());
      const session = audited.facts.getSession(run.session);
      if (!isStale) audited.requests.onRequest({ run, session, token: lease.token, outage });
      checkSolitude(world, audited, { worker: worker.name, runId: run.runId });
      world.log(worker.name, `asks the model for turn ${turn + 1} of ${run.runId}`);
      const id = `${run.runId}/${turn}`;
      const times = attempts.get(id) ?? 0;
      attempts.set(id, times + (outage ? 0 : 1));
      const planned = run.turns[turn];
      const failing = planned && times < planned.failureCount ? planned : undefined;
      if (outage || failing) audited.requests.onFailure(run);
      if (outage) yield* streamOutage(context, outage);
      else if (failing) yield* streamFailure(context, failing);
      else yield* streamSlowly(context, planned ? createChunks(planned) : createAnswer(run, partial));
    },
  };
}

/** Creates a model that returns the same summary for any history. It has the same outages as the main model. */
function createSummaryModel(context: AgentContext): Model {
  return {
    id: "summary",
    async *stream() {
      const outage = findPlannedOutage(context.outages, context.world.scheduler.now());
      if (outage) yield* streamOutage(context, outage);
      else yield* streamSlowly(context, [[{ type: "text", text: "Much was said." }], finishChunks("end")]);
    },
  };
}

async function* streamSlowly(
  { world, worker }: AgentContext,
  batches: Iterable<readonly Chunk[]>,
): AsyncGenerator<readonly Chunk[]> {
  for (const batch of batches) {
    await worker.sleep(world.random.below(20));
    yield batch;
  }
}

/** A stream without an end is cut off. */
const cutOff: readonly (readonly Chunk[])[] = [[{ type: "text", text: "I was about" }]];

async function* streamOutage(context: AgentContext, outage: PlannedOutage): AsyncGenerator<readonly Chunk[]> {
  const { world, worker } = context;
  world.totals.outages += 1;
  await worker.sleep(world.random.below(20));
  failRequest(outage, world.scheduler.now());
  yield* streamSlowly(context, cutOff);
}

async function* streamFailure(
  context: AgentContext,
  { failure }: PlannedTurn,
): AsyncGenerator<readonly Chunk[]> {
  if (failure === "overloaded") throw new AgentError("model_overloaded", "The model is overloaded.");
  yield* streamSlowly(context, cutOff);
  if (failure === "breaks") throw new AgentError("model_unreachable", "The connection broke.");
}

type Position = {
  readonly run: PlannedRun | undefined;
  readonly turn: number;
  /** The text of a message to continue, and the end of it that the model has to repeat. */
  readonly partial: { readonly text: string; readonly anchor: string };
};

/** Finds the run that a history belongs to, and its number of completed turns. */
function findPosition({ runs, audited }: AgentContext, history: readonly Entry[]): Position {
  const start = history.findLastIndex(
    (entry) => entry.type === "user" && planText.test(String(entry.content)),
  );
  const [, number] = planText.exec(String((history[start] as { content?: unknown })?.content)) ?? [];
  const run = runs[Number(number)];
  const last = history.at(-1);
  const [, anchor = ""] = (last?.type === "user" && continuationText.exec(String(last.content))) || [];
  const cut = anchor === "" ? last : history.at(-2);
  const text = cut?.type === "assistant" ? getText(cut) : "";
  const answers = history.slice(start).filter((entry) => entry.type === "assistant").length;
  // A summary has replaced some of the answers.
  const isCompacted = history.some((entry) => entry.type === "summary");
  const turn = isCompacted
    ? (audited.facts.runs.get(run?.runId ?? "")?.messages ?? 0)
    : answers - (cut?.type === "assistant" ? 1 : 0);
  return { run, turn, partial: { text, anchor } };
}

const planText = /^plan (\d+)$/;
const continuationText = /^Your last message was cut off.* joined: "(.*)"\. Add no/;

function finishChunks(reason: "end" | "tool_calls" | PlannedRun["stopsAt"]): readonly Chunk[] {
  return [
    { type: "usage", usage: { inputTokens: 10, outputTokens: 5 } },
    { type: "finish", reason },
  ];
}

/** Builds the next part of the last answer. After the output limit, it starts with the text that the request quotes. */
function createAnswer(run: PlannedRun, { text, anchor }: Position["partial"]): readonly (readonly Chunk[])[] {
  const parts = listAnswerParts(run);
  const next = parts.findIndex(
    (_, index) => parts.slice(0, index + 1).join("").length > text.trimEnd().length + 1,
  );
  const part = parts[next] ?? "";
  const reason = next + 1 < parts.length ? run.stopsAt : "end";
  return [[{ type: "text", text: anchor === "" ? part : `${anchor} ${part}` }], finishChunks(reason)];
}

function* createChunks(planned: PlannedTurn): Generator<readonly Chunk[]> {
  if (planned.hasText) yield [{ type: "text", text: "Let me see." }];
  for (const [index, { tool, n, hasBadArguments }] of planned.calls.entries()) {
    const argumentsText = hasBadArguments ? `{"n":"${n}` : JSON.stringify({ n });
    yield [
      { type: "call_start", index, name: tool },
      { type: "call_delta", index, text: argumentsText },
    ];
  }
  yield finishChunks("tool_calls");
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
  { worker, runs, executionLog, hasMemories, context }: AgentContext & { readonly context: ToolContext },
): Promise<unknown> {
  const call = findPlannedCall(runs, n);
  const execution = executionLog.begin({ worker: worker.name, tool }, context);
  // First, so that an execution that fails or is killed later has changed the memory.
  if (hasMemories && tool === rememberingTool) await rememberCall(context);
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
