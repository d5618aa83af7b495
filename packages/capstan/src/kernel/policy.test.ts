import { afterEach, describe, expect, it, vi } from "vitest";
import type { ErrorCode } from "../base/errors.ts";
import { agentTool } from "../features/nested/agent-tool.ts";
import type { Result } from "../runtime/result.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { collect } from "../testing/collect.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import {
  type Script,
  type ScriptedRequest,
  type ScriptedStep,
  scriptedModel,
} from "../testing/scripted-model.ts";
import { type AgentDefinition, defineAgent } from "./agent.ts";
import type { Event, Fact } from "./event.ts";
import { type Fragment, getText } from "./history.ts";
import { checkPolicy, defaultPolicy, type Policy, type PolicyOverrides, resolvePolicy } from "./policy.ts";
import { defineTool } from "./tool.ts";

/** Every field of a policy, by its path. */
type Leaf = {
  [Field in keyof Policy]: Policy[Field] extends readonly unknown[]
    ? Field
    : Policy[Field] extends object
      ? `${Field}.${keyof Policy[Field] & string}`
      : Field;
}[keyof Policy];

/** Builds a layer that sets one field. */
function buildLayer(leaf: Leaf, value: unknown): PolicyOverrides {
  const [field = "", inner] = leaf.split(".");
  return { [field]: inner === undefined ? value : { [inner]: value } };
}

function getLeaf(policy: PolicyOverrides, leaf: Leaf): unknown {
  const [field = "", inner] = leaf.split(".");
  const value: unknown = Reflect.get(policy, field);
  return inner === undefined ? value : Reflect.get(value as object, inner);
}

type Seen = {
  requests: readonly ScriptedRequest[];
  events: Event[];
  facts: Fact[];
  result: Result;
  peak: number;
};

/** One run of an agent whose tool `look` takes `toolMs` on a clock that skips waits of up to 100 seconds. */
async function observe(
  policy: PolicyOverrides,
  script: Script,
  { toolMs = 0, ...more }: Partial<AgentDefinition> & { toolMs?: number } = {},
): Promise<Seen> {
  const clock = fakeClock({ skipUpToMs: 100_000 });
  let [running, peak] = [0, 0];
  const look = defineTool({
    name: "look",
    description: "Looks, or fails.",
    input: { type: "object" },
    effects: "none",
    timeoutMs: 600_000,
    async execute({ fails, n }) {
      running += 1;
      peak = Math.max(peak, running);
      await new Promise((resolve) => setTimeout(resolve, 0));
      if (toolMs > 0) await clock.advance(toolMs);
      running -= 1;
      return fails ? { error: "Dark." } : `Seen ${n}.`;
    },
  });
  const model = scriptedModel(script);
  const agent = defineAgent({ name: "helper", instructions: "Base.", tools: [look], ...more, model, policy });
  const options = { store: memory(), session: "s", runId: "r", clock };
  return { ...(await collect(run(agent, "Go.", options))), requests: model.requests, peak };
}

const callForever = (_request: ScriptedRequest, n: number): ScriptedStep => ({
  calls: [{ name: "look", input: { n } }],
});
const repeatCall = (): ScriptedStep => ({ calls: [{ name: "look" }] });
const failingOnce: Script = [{ calls: [{ name: "look", input: { fails: true } }] }, { text: "Done." }];
const many = (count: number): Script => [
  { calls: Array.from({ length: count }, (_, n) => ({ name: "look", input: { n } })) },
  { text: "Done." },
];
const findTurns = (text: string, { requests }: Seen): number[] =>
  requests.flatMap(({ instructions }, index) => (instructions.includes(text) ? [index + 1] : []));
const listWaits = ({ events }: Seen): number[] =>
  events.flatMap((event) => (event.type === "retry" ? [event.waitMs] : []));
/** The waits of a run without their random part. */
async function listFullWaits(policy: PolicyOverrides, script: Script): Promise<number[]> {
  vi.spyOn(Math, "random").mockReturnValue(0);
  return listWaits(await observe(policy, script));
}
const failForever = (error: ErrorCode) => (): ScriptedStep => ({ error });
const countRequests = (seen: Seen): number => seen.requests.length;
const withRetry = (retry: PolicyOverrides["retry"], policy: PolicyOverrides): PolicyOverrides => ({
  ...policy,
  retry: { ...retry, ...policy.retry },
});

/** The observation by default, and with another value of the field. */
type Proof = {
  value: unknown;
  see(policy: PolicyOverrides): Promise<unknown>;
  byDefault: unknown;
  once: unknown;
};

const hanging = defineTool({
  name: "look",
  description: "Never ends.",
  input: { type: "object" },
  execute: () => new Promise(() => undefined),
});
const guarded = defineTool({
  name: "look",
  description: "Needs approval.",
  input: { type: "object" },
  needsApproval: true,
  execute: () => "Seen.",
});

const page = defineTool({
  name: "page",
  description: "Reads strangers' words.",
  input: { type: "object" },
  effects: "none",
  reads: ["untrusted"],
  execute: () => "Seen.",
});
const post = defineTool({
  name: "post",
  description: "Reaches the outside.",
  input: { type: "object" },
  effects: "send",
  reads: [],
  execute: () => "Sent.",
});

const isDenied = ({ type }: Fact): boolean => type === "handoff_denied";

/** A run whose model hands off first, and then answers. */
function runHandoff(policy: PolicyOverrides, to: string): Promise<Seen> {
  const expert = defineAgent({ name: "expert", model: scriptedModel(() => ({ text: "So it is." })) });
  const calls = [{ name: "handoff", input: { agent: to } }];
  return observe(policy, [{ calls }, { text: "Done." }], { handoffs: [expert] });
}

/** Counts the runs that three calls of an agent start. */
async function countNestedRuns(policy: PolicyOverrides): Promise<number> {
  const expert = defineAgent({ name: "expert", model: scriptedModel(() => ({ text: "So it is." })) });
  const calls = ["a", "b", "c"].map((prompt) => ({ name: "expert", input: { prompt } }));
  const { facts } = await observe(policy, [{ calls }, { text: "Done." }], { tools: [agentTool(expert)] });
  return facts.filter(({ type, parentRunId }) => type === "run_start" && parentRunId !== undefined).length;
}

/** The statuses of a run and of another one that is started in its session meanwhile. */
async function runTwo(policy: PolicyOverrides): Promise<readonly string[]> {
  const agent = defineAgent({ name: "helper", model: scriptedModel(() => ({ text: "Yes." })) });
  const options = { store: memory(), session: "s", policy };
  const runs = [run(agent, "Go.", options), run(agent, "And then?", options)];
  return Promise.all(runs.map(async (each) => (await each).status));
}

const proofs: { readonly [Path in Leaf]: Proof } = {
  maxTurns: {
    value: 3,
    see: async (policy) => countRequests(await observe(policy, callForever)),
    byDefault: 10,
    once: 3,
  },
  wrapUpAt: {
    value: 4,
    see: async (policy) => findTurns("left. Give an answer first", await observe(policy, callForever)),
    byDefault: [8, 9],
    once: [6, 7, 8, 9],
  },
  finalTurn: {
    value: "keep-tools",
    see: async (policy) => (await observe(policy, callForever)).requests.at(-1)?.tools.length,
    byDefault: 0,
    once: 1,
  },
  onLimit: {
    value: ["clarify"],
    see: async (policy) => (await observe(policy, callForever)).result.text.split(" ").slice(0, 4).join(" "),
    byDefault: "I could not finish",
    once: "I'm sorry, I could",
  },
  onOutputLimit: {
    value: "stop",
    see: async (policy) => {
      const parts = [{ text: "Half", finish: "length" as const }, { text: " and half." }];
      return (await observe(policy, parts)).result.text;
    },
    byDefault: "Half and half.",
    once: "Half",
  },
  "budget.tokens": {
    value: 45,
    see: async (policy) => countRequests(await observe(policy, callForever)),
    byDefault: 10,
    once: 3,
  },
  "budget.cost": {
    value: 2,
    see: async (policy) =>
      countRequests(
        await observe(policy, (request, n) => ({
          ...callForever(request, n),
          usage: { inputTokens: 1, outputTokens: 1, cost: 0.5 },
        })),
      ),
    byDefault: 10,
    once: 4,
  },
  "budget.seconds": {
    value: 1000,
    see: async (policy) => countRequests(await observe(policy, callForever, { toolMs: 250_000 })),
    byDefault: 10,
    once: 4,
  },
  "budget.toolCalls": {
    value: 4,
    see: async (policy) =>
      (await observe(policy, callForever)).facts.filter(({ type }) => type === "tool_call_start").length,
    byDefault: 9,
    once: 4,
  },
  "budget.modelCalls": {
    value: 3,
    see: async (policy) => countRequests(await observe(policy, callForever)),
    byDefault: 10,
    once: 3,
  },
  "budget.agents": {
    value: 2,
    see: countNestedRuns,
    byDefault: 3,
    once: 2,
  },
  toolExecution: {
    value: "sequential",
    see: async (policy) => (await observe(policy, many(4))).peak,
    byDefault: 4,
    once: 1,
  },
  maxConcurrency: {
    value: 3,
    see: async (policy) => (await observe(policy, many(12))).peak,
    byDefault: 8,
    once: 3,
  },
  onToolError: {
    value: "stop",
    see: async (policy) => {
      const calls = [{ name: "look", input: { fails: true } }, { name: "look" }];
      const seen = await observe({ ...policy, toolExecution: "sequential" }, [{ calls }, { text: "Done." }]);
      return seen.result.toolCalls.map(({ status }) => status);
    },
    byDefault: ["error", "ok"],
    once: ["error", "skipped"],
  },
  "retry.maxAttempts": {
    value: 4,
    see: async (policy) => (await observe(policy, failingOnce)).result.toolCalls[0]?.attempts,
    byDefault: 2,
    once: 4,
  },
  "retry.baseMs": {
    value: 200,
    see: async (policy) => listWaits(await observe(policy, failingOnce)),
    byDefault: [1000],
    once: [200],
  },
  "retry.factor": {
    value: "exponential",
    see: async (policy) => listWaits(await observe(withRetry({ maxAttempts: 4 }, policy), failingOnce)),
    byDefault: [1000, 2000, 3000],
    once: [1000, 2000, 4000],
  },
  "retry.maxMs": {
    value: 70_000,
    see: async (policy) =>
      listWaits(await observe(withRetry({ maxAttempts: 3, baseMs: 50_000 }, policy), failingOnce)),
    byDefault: [50_000, 60_000],
    once: [50_000, 70_000],
  },
  "modelRetry.attempts": {
    value: 5,
    see: async (policy) => countRequests(await observe(policy, failForever("empty_response"))),
    byDefault: 3,
    once: 5,
  },
  "modelRetry.minMs": {
    value: 100,
    see: async (policy) => listFullWaits(policy, failForever("empty_response")),
    byDefault: [500, 1000],
    once: [100, 200],
  },
  "modelRetry.maxMs": {
    value: 1000,
    see: async (policy) => (await listFullWaits(policy, failForever("model_overloaded"))).slice(0, 7),
    byDefault: [500, 1000, 2000, 4000, 8000, 10_000, 10_000],
    once: [500, 1000, 1000, 1000, 1000, 1000, 1000],
  },
  "modelRetry.patienceMs": {
    value: 3000,
    see: async (policy) => listFullWaits(policy, failForever("model_unreachable")),
    byDefault: [500, 1000, 2000, 4000, 8000, ...Array(7).fill(10_000)],
    once: [500, 1000],
  },
  "retry.jitter": {
    value: 1,
    see: async (policy) => {
      vi.spyOn(Math, "random").mockReturnValue(0.25);
      return listWaits(await observe(policy, failingOnce));
    },
    byDefault: [1000],
    once: [750],
  },
  toolTimeoutMs: {
    value: 5000,
    see: async (policy) =>
      (await observe(policy, repeatCall, { tools: [hanging] })).result.toolCalls[0]?.result,
    byDefault: '"look" gave no result within 60000 ms.',
    once: '"look" gave no result within 5000 ms.',
  },
  maxToolResultSize: {
    value: 300,
    see: async (policy) => {
      const words = defineTool({
        name: "look",
        description: "Talks.",
        input: { type: "object" },
        execute: () => "word ".repeat(10_000),
      });
      const seen = await observe(policy, failingOnce, { tools: [words] });
      return Math.ceil(String(seen.result.toolCalls[0]?.result).length / 100);
    },
    byDefault: 160,
    once: 3,
  },
  includeToolData: {
    value: false,
    see: async (policy) => {
      const found = defineTool({
        name: "look",
        description: "Finds.",
        input: { type: "object" },
        execute: () => ({ message: "Found 2.", data: [1, 2] }),
      });
      return (await observe(policy, failingOnce, { tools: [found] })).result.toolCalls[0]?.result;
    },
    byDefault: '{"message":"Found 2.","data":[1,2]}',
    once: "Found 2.",
  },
  textWithCalls: {
    value: "drop",
    see: async (policy) => {
      const script = [{ text: "Let me look.", calls: [{ name: "look" }] }, { text: "Done." }];
      const { requests } = await observe(policy, script);
      return requests[1]?.history.flatMap((entry) => (entry.type === "assistant" ? [getText(entry)] : []));
    },
    byDefault: ["Let me look."],
    once: [""],
  },
  deferToolsAbove: {
    value: 0,
    see: async (policy) => (await observe(policy, [{ text: "Done." }])).requests[0]?.tools[0]?.name,
    byDefault: "look",
    once: "search_tools",
  },
  onAllToolsFailed: {
    value: "answer-from-knowledge",
    see: async (policy) => (await observe(policy, failingOnce)).requests.map(({ tools }) => tools.length),
    byDefault: [1, 1],
    once: [1, 0],
  },
  "repetition.nudgeAt": {
    value: 1,
    see: async (policy) => findTurns("Do not repeat it", await observe(policy, repeatCall)),
    byDefault: [3],
    once: [2, 3],
  },
  "repetition.stopAt": {
    value: 5,
    see: async (policy) => countRequests(await observe(policy, repeatCall)),
    byDefault: 3,
    once: 5,
  },
  memory: {
    value: "run",
    see: async (policy) => {
      const model = scriptedModel(() => ({ text: "Yes." }));
      const agent = defineAgent({ name: "helper", model, policy });
      const options = { store: memory(), session: "s" };
      await run(agent, "One?", options);
      await run(agent, "Two?", options);
      return model.requests[1]?.history.map(({ type }) => type);
    },
    byDefault: ["user", "assistant", "user"],
    once: ["user"],
  },
  historyLimit: {
    value: 2,
    see: async (policy) => {
      const model = scriptedModel(() => ({ text: "Yes." }));
      const agent = defineAgent({ name: "helper", model, policy });
      const options = { store: memory(), session: "s" };
      for (const question of ["One?", "Two?", "Three?"]) await run(agent, question, options);
      return model.requests[2]?.history.length;
    },
    byDefault: 5,
    once: 3,
  },
  contextBudget: {
    value: 25,
    see: async (policy) => {
      const { facts } = await observe(policy, (request, n) =>
        request.instructions.includes("summarise") ? { text: "Seen." } : callForever(request, n),
      );
      return facts.some(({ type }) => type === "compacted");
    },
    byDefault: false,
    once: true,
  },
  requireToolFirst: {
    value: true,
    see: async (policy) => (await observe(policy, failingOnce)).requests[0]?.toolChoice,
    byDefault: "auto",
    once: "required",
  },
  summaries: {
    value: true,
    see: async (policy) =>
      (await observe(policy, [{ text: "Yes." }, { text: "It agreed." }])).facts.some(
        ({ type }) => type === "turn_summary",
      ),
    byDefault: false,
    once: true,
  },
  thinking: {
    value: "on",
    see: async (policy) => (await observe(policy, [{ text: "Yes." }])).requests[0]?.thinking,
    byDefault: false,
    once: true,
  },
  citations: {
    value: "on",
    see: async (policy) => (await observe(policy, [{ text: "Yes [1]." }])).result.text,
    byDefault: "Yes [1].",
    once: "Yes.",
  },
  approvals: {
    value: "allow",
    see: async (policy) =>
      (await observe(policy, [{ calls: [{ name: "look" }] }, { text: "Done." }], { tools: [guarded] })).result
        .status,
    byDefault: "waiting",
    once: "done",
  },
  approvalExpiresMs: {
    value: 1000,
    see: async (policy) => {
      const { facts } = await observe(policy, [{ calls: [{ name: "look" }] }], { tools: [guarded] });
      const requested = facts.find((fact) => fact.type === "approval_required");
      return (
        requested && (requested.expiresAt ?? 0) - (facts.find((fact) => fact.type === "message")?.at ?? 0)
      );
    },
    byDefault: 86_400_000,
    once: 1000,
  },
  gate: {
    value: "strict",
    see: async (policy) => {
      const script = [{ calls: [{ name: "page" }] }, { calls: [{ name: "post" }] }, { text: "Done." }];
      return (await observe(policy, script, { tools: [page, post] })).result.status;
    },
    byDefault: "done",
    once: "waiting",
  },
  onBusy: {
    value: "interrupt",
    see: runTwo,
    byDefault: ["done", "done"],
    once: ["cancelled", "done"],
  },
  "handoff.mode": {
    value: "transfer",
    see: async (policy) => (await runHandoff(policy, "expert")).facts.at(-1)?.agent,
    byDefault: "helper",
    once: "expert",
  },
  "handoff.maxDepth": {
    value: 0,
    see: async (policy) => (await runHandoff(policy, "expert")).facts.some(isDenied),
    byDefault: false,
    once: true,
  },
  "handoff.onDenied": {
    value: "fail",
    see: async (policy) => (await runHandoff(policy, "nobody")).result.status,
    byDefault: "done",
    once: "failed",
  },
};
const leaves = Object.keys(proofs) as Leaf[];

afterEach(() => {
  vi.restoreAllMocks();
});

describe("every field of a policy changes what a run does", () => {
  it("and there is a proof for each", () => {
    const paths = Object.entries(defaultPolicy).flatMap(([field, value]) =>
      typeof value === "object" && !Array.isArray(value) && field !== "maxToolResultSize"
        ? Object.keys(value).map((inner) => `${field}.${inner}`)
        : [field],
    );
    expect([...leaves].sort()).toEqual(paths.sort());
  });

  it.each(leaves)("%s (C-01, C-02, C-03, C-04, C-05, C-06, C-07, C-08)", async (leaf) => {
    const { value, see, byDefault, once } = proofs[leaf];
    expect(await see({})).toEqual(byDefault);
    expect(await see(buildLayer(leaf, value))).toEqual(once);
  });
});

describe("the defaults", () => {
  it("are these (C-01, C-02, C-03, C-04, C-05, C-06, C-07, C-08, C-11, C-24)", () => {
    expect(defaultPolicy).toMatchInlineSnapshot(`
      {
        "approvalExpiresMs": 86400000,
        "approvals": "ask",
        "budget": {
          "agents": 200,
          "cost": "unlimited",
          "modelCalls": 2000,
          "seconds": "unlimited",
          "tokens": "unlimited",
          "toolCalls": "unlimited",
        },
        "citations": "auto",
        "contextBudget": "unlimited",
        "deferToolsAbove": 64,
        "finalTurn": "no-tools",
        "gate": "default",
        "handoff": {
          "maxDepth": 4,
          "mode": "return",
          "onDenied": "tell-model",
        },
        "historyLimit": "unlimited",
        "includeToolData": true,
        "maxConcurrency": 8,
        "maxToolResultSize": {
          "data": 4000,
          "text": 16000,
        },
        "maxTurns": 10,
        "memory": "session",
        "modelRetry": {
          "attempts": 3,
          "maxMs": 300000,
          "minMs": 500,
          "patienceMs": "auto",
        },
        "onAllToolsFailed": "continue",
        "onBusy": "queue",
        "onLimit": [
          "best-effort",
        ],
        "onOutputLimit": "continue",
        "onToolError": "continue",
        "repetition": {
          "nudgeAt": 2,
          "stopAt": 3,
        },
        "requireToolFirst": false,
        "retry": {
          "baseMs": 1000,
          "factor": "linear",
          "jitter": 0,
          "maxAttempts": 2,
          "maxMs": 60000,
        },
        "summaries": false,
        "textWithCalls": "keep",
        "thinking": "auto",
        "toolExecution": "parallel",
        "toolTimeoutMs": 60000,
        "wrapUpAt": 2,
      }
    `);
  });

  it("are stored in full with the run", async () => {
    const { facts } = await observe({}, [{ text: "Yes." }]);
    expect(facts[0]).toMatchObject({ type: "run_start", policy: defaultPolicy });
  });
});

/** A value that differs from the default and from that of `proofs`. */
const otherValues: { readonly [Path in Leaf]: unknown } = {
  maxTurns: "unlimited",
  wrapUpAt: 0,
  finalTurn: "no-tools",
  onLimit: ["fail", "last-text"],
  onOutputLimit: "continue",
  "budget.tokens": 7,
  "budget.cost": 0.5,
  "budget.seconds": 9,
  "budget.toolCalls": 11,
  "budget.modelCalls": 13,
  "budget.agents": "unlimited",
  toolExecution: "parallel",
  maxConcurrency: 1,
  onToolError: "continue",
  "retry.maxAttempts": 1,
  "retry.baseMs": 0,
  "retry.factor": "linear",
  "retry.maxMs": 1,
  "retry.jitter": 0.5,
  "modelRetry.attempts": 1,
  "modelRetry.minMs": 0,
  "modelRetry.maxMs": 7,
  "modelRetry.patienceMs": 7,
  toolTimeoutMs: 1,
  maxToolResultSize: "unlimited",
  includeToolData: true,
  textWithCalls: "keep",
  deferToolsAbove: "unlimited",
  onAllToolsFailed: "fallback-tool",
  "repetition.nudgeAt": 7,
  "repetition.stopAt": 9,
  memory: "client",
  historyLimit: 7,
  contextBudget: 9000,
  requireToolFirst: false,
  summaries: false,
  thinking: "off",
  citations: "off",
  approvals: "deny",
  approvalExpiresMs: "unlimited",
  gate: "off",
  onBusy: "reject",
  "handoff.mode": "return",
  "handoff.maxDepth": 2,
  "handoff.onDenied": "tell-model",
};

describe("precedence, field by field", () => {
  it.each(leaves)("of %s: the run, then the agent, then the default", (leaf) => {
    const [ofRun, ofAgent] = [otherValues[leaf], proofs[leaf].value];
    expect(ofRun).not.toEqual(ofAgent);
    expect(getLeaf(resolvePolicy(buildLayer(leaf, ofRun), buildLayer(leaf, ofAgent)), leaf)).toEqual(ofRun);
    expect(getLeaf(resolvePolicy({}, buildLayer(leaf, ofAgent)), leaf)).toEqual(ofAgent);
    expect(getLeaf(resolvePolicy(undefined, buildLayer(leaf, ofAgent)), leaf)).toEqual(ofAgent);
    expect(getLeaf(resolvePolicy({}, {}), leaf)).toEqual(getLeaf(defaultPolicy, leaf));
  });

  it.each(leaves)("of %s: a layer that sets it does not change other fields", (leaf) => {
    const policy = resolvePolicy(buildLayer(leaf, otherValues[leaf]));
    for (const other of leaves.filter((path) => path !== leaf))
      expect([other, getLeaf(policy, other)]).toEqual([other, getLeaf(defaultPolicy, other)]);
  });

  it.each(leaves)("of %s: a layer in which it is undefined does not set it", (leaf) => {
    const agent = buildLayer(leaf, proofs[leaf].value);
    expect(getLeaf(resolvePolicy(buildLayer(leaf, undefined), agent), leaf)).toEqual(proofs[leaf].value);
  });

  it("inside a budget too: layers are merged", () => {
    const policy = resolvePolicy(
      { budget: { tokens: 1 } },
      { budget: { tokens: 2, cost: 3 }, retry: { baseMs: 4 } },
      { budget: { cost: 5, seconds: 6 }, retry: { maxAttempts: 7 } },
    );
    expect(policy.budget).toEqual({ ...defaultPolicy.budget, tokens: 1, cost: 3, seconds: 6 });
    expect(policy.retry).toEqual({ ...defaultPolicy.retry, baseMs: 4, maxAttempts: 7 });
  });

  it("a list replaces the whole list (C-03)", () => {
    expect(resolvePolicy({ onLimit: ["fail"] }, { onLimit: ["clarify", "best-effort"] }).onLimit).toEqual([
      "fail",
    ]);
  });

  it("and the resolved policy is stored with the run", async () => {
    const agent = defineAgent({
      name: "helper",
      model: scriptedModel([{ text: "Yes." }]),
      policy: { maxTurns: 4, wrapUpAt: 1, budget: { tokens: 100, cost: 1 } },
    });
    const policy = { maxTurns: 2, budget: { tokens: 50 } };
    const { facts } = await collect(run(agent, "Go.", { store: memory(), policy }));
    expect(facts[0]).toMatchObject({
      type: "run_start",
      policy: {
        ...defaultPolicy,
        maxTurns: 2,
        wrapUpAt: 1,
        budget: { tokens: 50, cost: 1, seconds: "unlimited", toolCalls: "unlimited" },
      },
    });
  });

  it("and neither the defaults nor a layer are mutated", () => {
    const [before, layer] = [structuredClone(defaultPolicy), { retry: { baseMs: 1 } }];
    resolvePolicy({ retry: { baseMs: 2 }, maxTurns: 1 }, layer);
    expect(defaultPolicy).toEqual(before);
    expect(layer).toEqual({ retry: { baseMs: 1 } });
  });

  it("a tool's own timeout overrides the run's", async () => {
    const own = defineTool({
      name: "look",
      description: "Never ends.",
      input: { type: "object" },
      timeoutMs: 3000,
      execute: () => new Promise(() => undefined),
    });
    const { result } = await observe({ toolTimeoutMs: 5000 }, repeatCall, { tools: [own] });
    expect(result.toolCalls[0]?.result).toBe('"look" gave no result within 3000 ms.');
  });

  it("a tool's own retry overrides the run's, field by field (C-07)", async () => {
    const own = defineTool({
      name: "look",
      description: "Fails.",
      input: { type: "object" },
      effects: "none",
      retry: { maxAttempts: 3 },
      execute: () => ({ error: "Dark." }),
    });
    const seen = await observe({ retry: { maxAttempts: 5, baseMs: 300 } }, failingOnce, { tools: [own] });
    expect(listWaits(seen)).toEqual([300, 600]);
  });
});

describe("an invalid policy is rejected", () => {
  it.each<[string, unknown, string]>([
    ["a misspelled field", { maxTurn: 3 }, 'Unknown field policy.maxTurn. Did you mean "maxTurns"?'],
    [
      "a misspelt inner field",
      { budget: { token: 3 } },
      'Unknown field policy.budget.token. Did you mean "tokens"?',
    ],
    [
      "a field with the name of an Object.prototype property",
      { constructor: 3 },
      "Unknown field policy.constructor.",
    ],
    ["no turns", { maxTurns: 0 }, 'policy.maxTurns cannot be 0: use a whole number from 1 or "unlimited".'],
    [
      "a number as text",
      { maxTurns: "5" },
      'policy.maxTurns cannot be "5": use a whole number from 1 or "unlimited".',
    ],
    [
      "a history of nothing",
      { historyLimit: 0 },
      'policy.historyLimit cannot be 0: use a whole number from 1 or "unlimited".',
    ],
    [
      "half a token",
      { contextBudget: 0.5 },
      'policy.contextBudget cannot be 0.5: use a whole number from 1 or "unlimited".',
    ],
    ["a negative number", { wrapUpAt: -1 }, "policy.wrapUpAt cannot be -1: use a whole number from 0."],
    ["NaN", { wrapUpAt: Number.NaN }, "policy.wrapUpAt cannot be NaN: use a whole number from 0."],
    ["null", { toolTimeoutMs: null }, "policy.toolTimeoutMs cannot be null: use a number from 1."],
    [
      "unlimited where it makes no sense",
      { toolTimeoutMs: "unlimited" },
      'policy.toolTimeoutMs cannot be "unlimited": use a number from 1.',
    ],
    [
      "a choice that does not exist",
      { finalTurn: "none" },
      'policy.finalTurn cannot be "none": use no-tools, keep-tools.',
    ],
    [
      "an inner choice that does not exist",
      { retry: { factor: 2 } },
      "policy.retry.factor cannot be 2: use linear, exponential.",
    ],
    [
      "an answer at the limit that does not exist",
      { onLimit: ["give-up"] },
      'policy.onLimit cannot be ["give-up"]: use a list of fallback-tool, clarify, best-effort, last-text, fail.',
    ],
    [
      "a single answer at the limit",
      { onLimit: "fail" },
      'policy.onLimit cannot be "fail": use a list of fallback-tool, clarify, best-effort, last-text, fail.',
    ],
  ])("%s", (_what, layer, message) => {
    const expected = expect.objectContaining({ code: "invalid_definition", message });
    expect(() => resolvePolicy(layer as PolicyOverrides)).toThrow(expected);
  });

  it.each([[5], ["strict"], [null], [[]]])("%j instead of a policy", (layer) => {
    expect(() => checkPolicy(layer as PolicyOverrides)).toThrow(
      expect.objectContaining({
        code: "invalid_definition",
        message: `A policy cannot be ${JSON.stringify(layer)}: use an object.`,
      }),
    );
  });

  it.each<[string, unknown]>([
    ["a number in place of a budget", { budget: 5 }],
    ["a number in place of retry", { retry: 3 }],
    ["a number in place of repetition", { repetition: 2 }],
    ["text in place of a budget", { budget: "unlimited" }],
    ["null in place of a budget", { budget: null }],
    ["a list in place of a budget", { budget: [] }],
    ["Infinity turns, which JSON cannot represent", { maxTurns: Number.POSITIVE_INFINITY }],
    ["an infinite timeout, which JSON cannot represent", { toolTimeoutMs: Number.POSITIVE_INFINITY }],
    ["half a turn", { maxTurns: 2.5 }],
    ["half an attempt", { retry: { maxAttempts: 1.5 } }],
    ["a fractional concurrency", { maxConcurrency: 1.5 }],
    ["a fractional depth", { handoff: { maxDepth: 1.5 } }],
    ["an unknown handoff mode", { handoff: { mode: "back" } }],
    ["a jitter above 1", { retry: { jitter: 2 } }],
  ])("%s", (_what, layer) => {
    expect(() => resolvePolicy(layer as PolicyOverrides)).toThrow(
      expect.objectContaining({ code: "invalid_definition" }),
    );
  });

  it("when the agent is defined, not when it runs", () => {
    const policy = { maxTurns: 0 };
    expect(() => defineAgent({ name: "helper", model: scriptedModel([]), policy })).toThrow(
      /policy\.maxTurns/,
    );
  });

  it("when the run starts, and the run rejects", async () => {
    const agent = defineAgent({ name: "helper", model: scriptedModel([{ text: "Yes." }]) });
    await expect(run(agent, "Go.", { store: memory(), policy: { maxTurns: 0 } })).rejects.toMatchObject({
      code: "invalid_definition",
    });
  });
});

describe("memory", () => {
  const page: Fragment = { id: "p1", content: "Budget: 7", source: { title: "Plan" } };
  const search = defineTool({
    name: "search",
    description: "Searches.",
    input: { type: "object" },
    execute: () => ({ content: "Found.", contexts: [page] }),
  });

  it.each<["session" | "run" | "client", string[]]>([
    ["session", ["Plan"]],
    ["run", []],
    ["client", []],
  ])("%s: sources of an earlier run are %j in the next (C-11)", async (kind, titles) => {
    const found: string[][] = [];
    const model = scriptedModel([{ calls: [{ name: "search" }] }, { text: "7." }, { text: "Hello." }]);
    const agent = defineAgent({
      name: "helper",
      model,
      tools: [search],
      instructions({ fragments }) {
        found.push(fragments.map(({ source }) => source.title));
        return "Base.";
      },
      policy: { memory: kind },
    });
    const options = { store: memory(), session: "s" };
    await run(agent, "One?", options);
    await run(agent, "Two?", options);
    expect(found).toEqual([[], ["Plan"], titles]);
  });
});

/** The policies of the five apps. */
const apps = {
  airport: {
    maxTurns: 10,
    wrapUpAt: 2,
    finalTurn: "no-tools",
    onLimit: ["clarify"],
    toolExecution: "parallel",
    retry: { maxAttempts: 1 },
    onAllToolsFailed: "continue",
    maxToolResultSize: "unlimited",
    textWithCalls: "drop",
    memory: "session",
    requireToolFirst: false,
  },
  files: {
    maxTurns: "unlimited",
    wrapUpAt: 0,
    finalTurn: "keep-tools",
    onLimit: ["best-effort"],
    toolExecution: "sequential",
    retry: { maxAttempts: 1 },
    onAllToolsFailed: "continue",
    memory: "client",
    requireToolFirst: false,
  },
  graph: {
    maxTurns: 5,
    wrapUpAt: 0,
    finalTurn: "keep-tools",
    onLimit: ["fail"],
    toolExecution: "sequential",
    retry: { maxAttempts: 1 },
    onAllToolsFailed: "continue",
    memory: "run",
    requireToolFirst: false,
  },
  knowledge: {
    maxTurns: 10,
    wrapUpAt: 0,
    finalTurn: "keep-tools",
    onLimit: ["fallback-tool", "best-effort"],
    toolExecution: "parallel",
    retry: { maxAttempts: 1 },
    onAllToolsFailed: "continue",
    memory: "session",
    requireToolFirst: true,
  },
  "mcp-bridge": {
    maxTurns: 10,
    wrapUpAt: 0,
    finalTurn: "keep-tools",
    onLimit: ["best-effort"],
    toolExecution: "parallel",
    retry: { maxAttempts: 2 },
    onAllToolsFailed: "answer-from-knowledge",
    memory: "session",
    requireToolFirst: false,
  },
} as const satisfies { readonly [app: string]: PolicyOverrides };

type App = keyof typeof apps;

const widen = defineTool({
  name: "widen",
  description: "Searches more widely.",
  input: { type: "object" },
  execute: () => "Found by a wider search.",
});
/** A model that stops only after 30 turns. */
const nearlyRestless: Script = (request, n) => (n === 29 ? { text: "At last." } : callForever(request, n));

describe("the policies of the five apps", () => {
  it.each<[App, { asked: number; noted: number[]; lastTools: number; status: string; text: RegExp }]>([
    [
      "airport",
      { asked: 10, noted: [8, 9], lastTools: 0, status: "limit", text: /Could you tell me a little more/ },
    ],
    ["files", { asked: 30, noted: [], lastTools: 1, status: "done", text: /^At last\.$/ }],
    [
      "graph",
      { asked: 5, noted: [], lastTools: 1, status: "failed", text: /^Maximum tool iterations reached$/ },
    ],
    [
      "knowledge",
      { asked: 10, noted: [], lastTools: 1, status: "limit", text: /^Found by a wider search\.$/ },
    ],
    [
      "mcp-bridge",
      { asked: 10, noted: [], lastTools: 1, status: "limit", text: /^I could not finish this: .*10 turns/ },
    ],
  ])("%s, when the model never stops (S0-08, S2-05, S2-16, S2-27, S2-45, S3-41, S4-20, C-01, C-02, C-03, C-04, D-13)", async (app, expected) => {
    const seen = await observe(apps[app], nearlyRestless, { fallbackTool: widen });
    expect(seen.requests).toHaveLength(expected.asked);
    expect(findTurns("left. Give an answer first", seen)).toEqual(expected.noted);
    expect(seen.requests.at(-1)?.tools).toHaveLength(expected.lastTools);
    expect(seen.result.status).toBe(expected.status);
    expect(seen.result.text).toMatch(expected.text);
  });

  it.each<[App, { attempts: number; lastTools: number; grounded: boolean }]>([
    ["airport", { attempts: 1, lastTools: 1, grounded: false }],
    ["files", { attempts: 1, lastTools: 1, grounded: false }],
    ["graph", { attempts: 1, lastTools: 1, grounded: false }],
    ["knowledge", { attempts: 1, lastTools: 1, grounded: false }],
    ["mcp-bridge", { attempts: 2, lastTools: 0, grounded: false }],
  ])("%s, when every call fails (S4-16, S4-17, C-07, C-08)", async (app, {
    attempts,
    lastTools,
    grounded,
  }) => {
    const { requests, result } = await observe(apps[app], failingOnce);
    expect(result.toolCalls).toMatchObject([{ status: "error", attempts }]);
    expect(requests.map(({ tools }) => tools.length)).toEqual([1, lastTools]);
    expect(result).toMatchObject({ status: "done", text: "Done.", grounded });
  });

  it.each<[App, { peak: number; toolChoice: string }]>([
    ["airport", { peak: 4, toolChoice: "auto" }],
    ["files", { peak: 1, toolChoice: "auto" }],
    ["graph", { peak: 1, toolChoice: "auto" }],
    ["knowledge", { peak: 4, toolChoice: "required" }],
    ["mcp-bridge", { peak: 4, toolChoice: "auto" }],
  ])("%s, when the model makes four calls at once (S0-12, S1-11, S2-09, S4-05, C-05, C-24)", async (app, expected) => {
    const { requests, peak } = await observe(apps[app], many(4));
    expect({ peak, toolChoice: requests[0]?.toolChoice }).toEqual(expected);
  });

  it.each<[App, number]>([
    ["airport", 3],
    ["files", 1],
    ["graph", 1],
    ["knowledge", 3],
    ["mcp-bridge", 3],
  ])("%s, in the second run of a session, knows %i entries (S0-18, S1-26, S2-06, C-11)", async (app, entries) => {
    const model = scriptedModel(() => ({ text: "Yes." }));
    const agent = defineAgent({ name: "helper", model, policy: apps[app] });
    const options = { store: memory(), session: "s" };
    await run(agent, "One?", options);
    await run(agent, "Two?", options);
    expect(model.requests[1]?.history).toHaveLength(entries);
  });

  it("graph, with its limit as an option, reports any limit (S2-27, S2-45, D-13)", async () => {
    for (const maxTurns of [3, 5, 7]) {
      const { requests, result } = await observe({ ...apps.graph, maxTurns }, callForever);
      expect(requests).toHaveLength(maxTurns);
      expect(result).toMatchObject({ status: "failed", text: "Maximum tool iterations reached" });
    }
  });

  it("graph, with repetition raised above the limit, allows identical calls up to the limit (S2-45)", async () => {
    const patient = { ...apps.graph, repetition: { nudgeAt: 6, stopAt: 6 } };
    const { requests, result } = await observe(patient, repeatCall);
    expect(requests).toHaveLength(5);
    expect(result).toMatchObject({ status: "failed", text: "Maximum tool iterations reached" });
  });

  it("graph, with last-text, returns the last text instead of an error (S2-05)", async () => {
    const { result } = await observe({ ...apps.graph, onLimit: ["last-text"] }, (request, n) => ({
      ...callForever(request, n),
      text: `Step ${n}.`,
    }));
    expect(result).toMatchObject({ status: "limit", text: "Step 4." });
  });

  it("knowledge, when the fallback tool fails, answers with best effort (S3-41, C-03)", async () => {
    const broken = defineTool({
      name: "widen",
      description: "Fails.",
      input: { type: "object" },
      execute: () => ({ error: "Down." }),
    });
    const { result } = await observe(apps.knowledge, callForever, { fallbackTool: broken });
    expect(result.text).toMatch(/^I could not finish this/);
  });

  it("knowledge reports the limit before the fallback runs (S3-40, S3-41)", async () => {
    const { facts } = await observe(apps.knowledge, callForever, { fallbackTool: widen });
    expect(facts.slice(-4).map(({ type }) => type)).toEqual([
      "limit_reached",
      "tool_call_start",
      "tool_call_result",
      "done",
    ]);
  });
});
