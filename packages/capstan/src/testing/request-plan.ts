import { type Arbitrary, array, boolean, constantFrom, integer, oneof, option, record } from "fast-check";
import { expect } from "vitest";
import { toBase64 } from "../base/json.ts";
import { rebuildRequests } from "../features/exact-requests/rebuild-request.ts";
import type { ExactRequest, StoredRequest } from "../features/exact-requests/stored-request.ts";
import { agentTool } from "../features/nested/agent-tool.ts";
import { type Agent, defineAgent } from "../kernel/agent.ts";
import type { Part } from "../kernel/history.ts";
import { defineTool } from "../kernel/tool.ts";
import type { WireName } from "../models/wire-request.ts";
import { wireNames } from "../models/wire-request.ts";
import { resume, run } from "../runtime/run.ts";
import type { Store } from "../runtime/store.ts";
import { loadRequests } from "../sessions/load-requests.ts";
import { session } from "../sessions/session.ts";
import {
  type ProviderMove,
  providerKey,
  type ReceivedRequest,
  type RecordingProvider,
  startRecordingProvider,
} from "./recording-provider.ts";

/** Random runs of a session: the wires of its agents, and what the provider does with each request. */
export type RequestPlan = {
  readonly wires: readonly [WireName, WireName, WireName];
  readonly runs: readonly (readonly PlannedMove[])[];
  /** Tokens, so that the history is compacted. */
  readonly contextBudget: number | null;
  /** The write of the last run that fails, after which the run is resumed from a new store. */
  readonly crashAt: number | null;
  /** Where the session is forked, from its start to its end. */
  readonly forkAt: number;
  readonly changesInstructions: boolean;
  /** The sizes in bytes of the images that the user attaches to each run. */
  readonly images: readonly number[];
};

type PlannedMove = "text" | "look" | "two" | "handoff" | "delegate" | "fail";

const move: Arbitrary<PlannedMove> = oneof(
  { weight: 3, arbitrary: constantFrom<PlannedMove>("look") },
  { weight: 4, arbitrary: constantFrom<PlannedMove>("text", "two", "handoff", "delegate", "fail") },
);
const wire = constantFrom(...wireNames);

export const requestPlans: Arbitrary<RequestPlan> = record({
  wires: array(wire, { minLength: 3, maxLength: 3 }).map(
    ([first = "gemini", second = "gemini", third = "gemini"]) => [first, second, third] as const,
  ),
  runs: array(array(move, { minLength: 1, maxLength: 7 }), { minLength: 1, maxLength: 3 }),
  contextBudget: option(integer({ min: 600, max: 1500 })),
  crashAt: option(integer({ min: 2, max: 9 })),
  forkAt: integer({ min: 0, max: 100 }),
  changesInstructions: boolean(),
  images: array(constantFrom(10, 3_000, 30_000), { maxLength: 2 }),
});

/** Opens the same data again, as a new process would. */
export type OpenStore = () => Store;

/** Executes a plan and compares what the store has with what the provider got, byte for byte. */
export async function checkRequests(plan: RequestPlan, openStore: OpenStore): Promise<void> {
  const moves: PlannedMove[] = [];
  const provider = await startRecordingProvider((request) => toMove(request, moves.shift() ?? "text"));
  try {
    const agent = createRequestAgent(plan, provider);
    let lost: readonly StoredRequest[] = [];
    for (const [index, planned] of plan.runs.entries()) {
      moves.splice(0, moves.length, ...planned);
      const isLast = index === plan.runs.length - 1;
      // A new store for each run: nothing in memory helps to find the base of a request.
      const crashAt = isLast ? plan.crashAt : null;
      lost = await runOnce({ agent, index, openStore, crashAt, images: plan.images });
    }
    const store = openStore();
    const stored = await checkSession({ store, sessionId: "s", received: provider.received, lost });
    await checkTurns(store, stored);
    await checkFork({ plan, agent, provider, openStore, store, stored });
    await store.close();
  } finally {
    await provider.close();
  }
}

const options = { session: "s", policy: { modelRetry: { attempts: 3, minMs: 1, maxMs: 1 } } } as const;

type PlannedRun = {
  readonly agent: Agent;
  readonly index: number;
  readonly openStore: OpenStore;
  readonly crashAt: number | null;
  readonly images: readonly number[];
};

/** Creates an image with other bytes than any other. */
export function createImage(size: number, seed: number): Part {
  const bytes = Uint8Array.from({ length: size }, (_, at) => ((at + seed) * 7919 + at * at * seed) % 251);
  return { type: "image", mediaType: "image/png", data: toBase64(bytes) };
}

/** Returns the requests of the write that failed: they were sent, and their facts are not stored. */
async function runOnce(planned: PlannedRun): Promise<readonly StoredRequest[]> {
  const { agent, index, openStore, crashAt, images } = planned;
  const store = openStore();
  let lost: readonly StoredRequest[] = [];
  const runId = `run-${index}`;
  let writes = 0;
  const append: Store["append"] = async (facts, at) => {
    writes += 1;
    if (crashAt !== null && writes === crashAt) {
      lost = at.requests ?? [];
      throw new Error("disk gone");
    }
    return store.append(facts, at);
  };
  // The user pastes the key.
  const text = `Run ${index}: is ${providerKey} the key? ${"é😀 ".repeat(20)}`;
  const media = images.map((size, place) => createImage(size, 10 * index + place + 1));
  const input = [{ type: "user", content: [{ type: "text", text }, ...media] }] as const;
  const handle = run(agent, input, { ...options, runId, store: { ...store, append } });
  await handle.then(undefined, () => undefined);
  await store.close();
  const again = openStore();
  const known = await again.findRun(runId);
  if (known?.state === "active") await resume(agent, { store: again, runId });
  await again.close();
  return lost;
}

function createRequestAgent(plan: RequestPlan, provider: RecordingProvider): Agent {
  const [main, second, third] = plan.wires.map((name) => provider.createModel(name));
  if (!main || !second || !third) throw new Error("three wires");
  let count = 0;
  const instructions = plan.changesInstructions
    ? () => {
        count += 1;
        return `You help. This is request ${count}. ${"Be kind. ".repeat(40)}`;
      }
    : `You help. ${"Be kind. ".repeat(40)}`;
  const look = defineTool({
    name: "look",
    description: "Looks something up.",
    input: { what: { type: "string" } },
    effects: "none",
    execute: ({ what }) => `${what}: ${'"quoted" \\ \u0001 \u2028 é😀 '.repeat(25)}`,
  });
  const policy = plan.contextBudget === null ? {} : { contextBudget: plan.contextBudget };
  const expert = defineAgent({ name: "expert", model: third, tools: [look], instructions: "You know." });
  const clerk = defineAgent({ name: "clerk", model: second, tools: [look], instructions, policy });
  return defineAgent({
    ...{ name: "main", model: main, instructions, policy },
    tools: [look, agentTool(expert)],
    handoffs: [clerk],
  });
}

/** Calls only tools that the request offers. */
function toMove({ body }: ReceivedRequest, planned: PlannedMove): ProviderMove {
  if (body.includes("You summarize")) return { text: "A summary of what happened." };
  const look = { name: "look", input: { what: "it" } };
  const offers = (name: string) => new RegExp(`"name":"${name}"`).test(body);
  if (planned === "fail") return { status: 503 };
  if (planned === "look" && offers("look")) return { text: "I look.", calls: [look] };
  if (planned === "two" && offers("look")) return { calls: [look, { ...look, input: { what: "that" } }] };
  if (planned === "handoff" && offers("handoff"))
    return { calls: [{ name: "handoff", input: { agent: "clerk", message: "Go on." } }] };
  if (planned === "delegate" && offers("expert"))
    return { calls: [{ name: "expert", input: { prompt: "What is it?" } }] };
  return { text: "Done, as far as I know." };
}

type StoredSession = {
  readonly store: Store;
  readonly sessionId: string;
  readonly received: readonly ReceivedRequest[];
  readonly lost: readonly StoredRequest[];
};

/** The requests of a session are what the provider got, except those of the write that failed. */
async function checkSession(given: StoredSession): Promise<readonly ExactRequest[]> {
  const { store, sessionId, received, lost } = given;
  const rows = (await store.readRequests?.(sessionId)) ?? [];
  const stored = await rebuildRequests({ store, sessionId }, rows);
  const expected = received.map(({ url, body }) => `${url} ${body.replaceAll(providerKey, "***")}`);
  const lostCount = lost.length;
  const remaining = [...expected];
  for (const { url, body } of stored) {
    const position = remaining.indexOf(`${url} ${body}`);
    expect(position, `a stored request that nobody got: ${body.slice(0, 300)}`).toBeGreaterThanOrEqual(0);
    remaining.splice(position, 1);
  }
  expect(remaining).toHaveLength(lostCount);
  checkHeaders(stored, received);
  expect(JSON.stringify(rows)).not.toContain(providerKey);
  expect(JSON.stringify(rows)).not.toContain("tenant-secret");
  return stored;
}

function checkHeaders(stored: readonly ExactRequest[], received: readonly ReceivedRequest[]): void {
  for (const { url, headers } of stored) {
    const got = received.find((request) => request.url === url)?.headers ?? {};
    expect(headers["x-tenant-token"]).toBe("***");
    for (const [name, value] of Object.entries(headers))
      if (value !== "***") expect(got[name.toLowerCase()]).toBe(value);
  }
}

/** Every request belongs to a turn and is found there, also that of a nested run. */
async function checkTurns(store: Store, stored: readonly ExactRequest[]): Promise<void> {
  const turns = new Map(stored.map(({ runId, turn }) => [`${runId} ${turn}`, { runId, turn }]));
  let count = 0;
  for (const { runId, turn } of turns.values()) {
    const [root = "", callId] = runId.split("~");
    const found = await loadRequests(store, { runId: root, turn, callId });
    expect(found).toEqual(stored.filter((request) => request.runId === runId && request.turn === turn));
    count += found.length;
  }
  expect(count).toBe(stored.length);
}

type ForkContext = Omit<PlannedRun, "crashAt" | "index" | "images"> & {
  readonly plan: RequestPlan;
  readonly provider: RecordingProvider;
  readonly store: Store;
  readonly stored: readonly ExactRequest[];
};

/** A fork has the requests of the turns that it has, and adds its own. */
async function checkFork({ plan, agent, provider, openStore, store, stored }: ForkContext): Promise<void> {
  const { facts } = await session(store, "s").info();
  const at = Math.max(1, Math.round((facts * plan.forkAt) / 100));
  await session(store, "s").fork(at, { id: "copy" });
  const bodies = (requests: readonly ExactRequest[]) => requests.map(({ url, body }) => [url, body]);
  const rows = (await store.readRequests?.("s")) ?? [];
  const copied = await loadAll(store, "copy");
  const kept = rows.filter(({ seq }) => seq <= at).length;
  expect(bodies(copied)).toEqual(bodies(stored.slice(0, kept)));
  const before = provider.received.length;
  const again = openStore();
  const [last] = (await again.listRuns("copy")).slice(-1);
  if (last?.state === "waiting") await resume(agent, { store: again, runId: last.runId });
  else await run(agent, "And now?", { ...options, session: "copy", store: again });
  const grown = await loadAll(again, "copy");
  const added = provider.received.slice(before).map(({ body }) => body.replaceAll(providerKey, "***"));
  expect(
    grown
      .slice(kept)
      .map(({ body }) => body)
      .sort(),
  ).toEqual(added.sort());
  await again.close();
}

async function loadAll(store: Store, sessionId: string): Promise<readonly ExactRequest[]> {
  return rebuildRequests({ store, sessionId }, (await store.readRequests?.(sessionId)) ?? []);
}
