// Runs made up by chance in which secrets are planted wherever text comes from: people, models, tools, errors. After
// each run everything that has left it is searched for them, in every form that is promised to be found.
import {
  type Arbitrary,
  array,
  assert as assertProperty,
  asyncProperty,
  boolean,
  constantFrom,
  integer,
  nat,
  option,
  record,
  sample,
} from "fast-check";
import { describe, expect, it } from "vitest";
import { type Agent, defineAgent } from "../agent.ts";
import { AgentError } from "../errors.ts";
import { type Event, isFact } from "../event.ts";
import { jsonLines } from "../logs/json-lines.ts";
import { readableLog } from "../logs/readable-log.ts";
import { reasoningLog } from "../logs/reasoning-log.ts";
import { run } from "../run/run.ts";
import { memory } from "../stores/memory.ts";
import { defineTool, type Tool, type ToolContext } from "../tool.ts";
import { fakeClock } from "./fake-clock.ts";
import { type ScriptedStep, scriptedModel } from "./scripted-model.ts";

const pin = 31415926535;

export const canaries: readonly string[] = [
  ...["sk-proj-Zx81_canary-one-4fQ", "sk-ant-api03-canary/two+Hq==", "AIzaSyCanaryThree_9dK2mfW"],
  ...["ghp_canaryFour4455667788", "xoxb-5555-canary-five", "eyJhbGciOi.Y2FuYXJ5.c2l4LXNpZw"],
  ...["p@ss w0rd&seven?=%", 'quo"te\\back\neight', "schlüssel-nöun-Ω9", "postgres://ten:hunter10@db/x"],
  ...["deadbeefcafe0011", "DEADBEEFCAFE0012", "AKIA13CANARYXYZ", "line one 14\nline two", "{json:15,[x]}"],
  ...["***sixteen***", "   17 spaces   ", "東京タワー十八番", "six019", String(pin)],
];

const forms: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => Buffer.from(secret).toString("base64"),
  (secret) => Buffer.from(secret).toString("base64url"),
  (secret) => Buffer.from(secret).toString("hex"),
  (secret) => Buffer.from(secret).toString("hex").toUpperCase(),
  encodeURIComponent,
  (secret) => JSON.stringify(secret).slice(1, -1),
];

const frames: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => `Incorrect API key provided: ${secret}. You can find your key at https://example.org.`,
  (secret) => `GET https://api.example/v1?q=1&key=${secret}&page=2 failed`,
  (secret) => `> authorization: Bearer ${secret}\n> accept: */*\n`,
  (secret) => `sk-proj-Zx81 sk-ant-api0 ${secret}${secret} ghp_`,
];

type Plant = { readonly canary: number; readonly form: number; readonly frame: number };

/** How a tool lets a text out. The client's has none: it is answered. */
const ways: {
  readonly [way: string]: ((said: string, context: ToolContext) => unknown) | undefined;
} = {
  client: undefined,
  text: (said) => said,
  data: (said) => ({ data: { [said]: [said, { deep: said }], n: 1 }, message: said }),
  number: () => ({ data: { pin, list: [pin] } }),
  parts: partsOf,
  thrown(said) {
    throw new Error(said);
  },
  code(said) {
    throw Object.assign(new Error("no"), { code: said });
  },
  refused: (said) => ({ error: said, retryable: false }),
  progress(said, { progress }) {
    progress({ said, list: [said] });
    return "ok";
  },
  async *stream(said) {
    for (let at = 0; at < said.length; at += 3) yield said.slice(at, at + 3);
  },
  bytes: (said) => (/^[ -~\n]*$/.test(said) ? new TextEncoder().encode(`\0${said}\0`) : said),
  large: (said) => `${"x".repeat(9000)}${said}${"y".repeat(9000)}`,
  response: (said) => Response.json({ error: { message: said } }, { status: 401 }),
};

function partsOf(said: string): unknown {
  const half = Math.floor(said.length / 2);
  return {
    content: [said.slice(0, half), said.slice(half)].map((text) => ({ type: "text", text })),
    ui: { kind: "card", props: { said } },
    contexts: [{ id: said, content: said, source: { title: said, url: said } }],
    affected: { said },
  };
}

type PlannedCall = {
  readonly way: string;
  readonly plant: Plant;
  readonly argument: Plant | null;
  readonly id: Plant | null;
  readonly asks: boolean;
};

type PlannedTurn = {
  readonly text: Plant | null;
  readonly reasoning: Plant | null;
  readonly split: number;
  readonly flaky: boolean;
  readonly calls: readonly PlannedCall[];
};

/** Where the secrets of a run are. */
export type CanaryPlan = {
  readonly asked: Plant;
  readonly instructions: Plant;
  readonly steered: Plant | null;
  readonly answer: Plant;
  readonly failure: Plant | null;
  readonly turns: readonly PlannedTurn[];
};

const plant: Arbitrary<Plant> = record({
  canary: nat(canaries.length - 1),
  form: nat(forms.length - 1),
  frame: nat(frames.length - 1),
});

const call: Arbitrary<PlannedCall> = record({
  way: constantFrom(...Object.keys(ways)),
  plant,
  argument: option(plant),
  id: option(plant, { freq: 3 }),
  asks: boolean(),
});

const canaryPlan: Arbitrary<CanaryPlan> = record({
  asked: plant,
  instructions: plant,
  steered: option(plant),
  answer: plant,
  failure: option(plant, { freq: 2 }),
  turns: array(
    record({
      text: option(plant),
      reasoning: option(plant),
      split: integer({ min: 1, max: 9 }),
      flaky: boolean(),
      calls: array(call, { minLength: 1, maxLength: 3 }),
    }),
    { maxLength: 3 },
  ),
});

function planted({ canary, form, frame }: Plant): string {
  const secret = canaries[canary] ?? "";
  return (frames[frame] ?? String)((forms[form] ?? String)(secret));
}

/** What a run has let out, by where it was found. */
export type Seen = Map<string, unknown[]>;

/** Plays a plan to its end. */
async function playCanaries(plan: CanaryPlan, secrets: readonly string[]): Promise<Seen> {
  const seen: Seen = new Map();
  const see = (place: string, value: unknown) => seen.set(place, [...(seen.get(place) ?? []), value]);
  const store = memory();
  const { putBlob } = store;
  const kept: typeof store = {
    ...store,
    async putBlob(session, blob) {
      see("blobs", typeof blob.data === "string" ? blob.data : Buffer.from(blob.data).toString());
      return putBlob(session, blob);
    },
  };
  const write = (line: string) => see("logs", line);
  const sinks = [jsonLines(write, { deltas: true }), readableLog(write), reasoningLog(write)];
  const onEvent = (event: Event) => {
    for (const sink of sinks) sink(event);
  };
  const { agent, model } = canaryAgent(plan, (input) => see("inputs", input));
  const started = run(agent, planted(plan.asked), {
    ...{ session: "s", store: kept, hooks: { onEvent }, secrets, clock: fakeClock({ skipUpToMs: 30_000 }) },
    policy: { maxTurns: 8, gate: "off" },
  });
  if (plan.steered) started.steer(planted(plan.steered));
  for (;;) {
    for await (const event of started) see("events", event);
    const result = await started;
    see("result", result);
    if (result.status !== "waiting") break;
    for (const { callId, needs } of result.pending) {
      if (needs === "approval") started.approve(callId);
      else started.answer(callId, { content: planted(plan.answer), data: [planted(plan.answer)] });
    }
  }
  see("deltas", joinedDeltas(seen.get("events") as Event[]));
  see("store", await store.read("s"));
  see("requests", model.requests);
  return seen;
}

/** As a client would put them together. */
function joinedDeltas(events: readonly Event[]): string[] {
  const texts = new Map<string, string>();
  for (const event of events) {
    if (isFact(event) || !("delta" in event)) continue;
    const name = `${event.turn} ${event.type} ${"id" in event ? event.id : ""}`;
    texts.set(name, (texts.get(name) ?? "") + event.delta);
  }
  return [...texts.values()];
}

function canaryAgent(
  plan: CanaryPlan,
  onInput: (input: unknown) => void,
): { readonly agent: Agent; readonly model: ReturnType<typeof scriptedModel> } {
  const asked = new Set<number>();
  const model = scriptedModel(({ history }) => {
    const turn = history.filter((entry) => entry.type === "assistant").length;
    const isFirst = !asked.has(turn);
    asked.add(turn);
    const planned = plan.turns[turn];
    if (planned) return stepOf(planned, { turn, isFirst });
    const failure = plan.failure && new AgentError("model_auth", planted(plan.failure));
    return { text: planted(plan.answer), split: 2, ...(failure && { error: failure }) };
  });
  const tools = plan.turns.flatMap(({ calls }, turn) =>
    calls.map((planned, index) => toolOf(planned, nameOf(turn, index), onInput)),
  );
  return {
    agent: defineAgent({ name: "planted", model, instructions: planted(plan.instructions), tools }),
    model,
  };
}

const nameOf = (turn: number, index: number) => `tool_${turn}_${index}`;

function stepOf(
  { text, reasoning, split, flaky, calls }: PlannedTurn,
  { turn, isFirst }: { turn: number; isFirst: boolean },
): ScriptedStep {
  return {
    ...(text && { text: planted(text) }),
    ...(reasoning && { reasoning: planted(reasoning) }),
    split,
    ...(flaky && isFirst && { finish: "none" }),
    calls: calls.map(({ argument, id }, index) => ({
      name: nameOf(turn, index),
      ...(id && { id: planted(id) }),
      input: argument ? { note: planted(argument), list: [planted(argument)] } : {},
    })),
  };
}

function toolOf({ way, asks, plant }: PlannedCall, name: string, onInput: (input: unknown) => void): Tool {
  const said = planted(plant);
  const about = { name, description: said, input: { type: "object" } } as const;
  const give = ways[way];
  if (!give) return defineTool(about);
  return defineTool({
    ...about,
    ...(asks && { needsApproval: true }),
    execute(input, context) {
      onInput(input);
      return give(said, context);
    },
  });
}

/** Every form of every canary, as one pattern. */
const anyCanary = new RegExp(
  [...new Set(canaries.flatMap((canary) => forms.map((form) => form(canary))))]
    .map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"))
    .join("|"),
);

/** Where canaries were found, and which. */
function leaksIn(seen: Seen): string[] {
  return [...seen].flatMap(([place, values]) => {
    const texts = new Set(values.flatMap((value) => [JSON.stringify(value), ...textsIn(value)]));
    const found = [...texts].map((text) => anyCanary.exec(text)?.[0]).filter((text) => text !== undefined);
    return found.map((text) => `${text} in ${place}`);
  });
}

/** Every text, key and number of a value. */
function textsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [String(value)];
  return Object.entries(value).flatMap(([key, member]) => [key, ...textsIn(member)]);
}

/** Checks that nothing planted gets out of so many runs. */
export function canarySuite(runs: number): void {
  describe("a run with secrets", () => {
    it("lets no canary out: not to the store, the model, tools, listeners, logs or its result (A110, A111, A112)", async () => {
      await assertProperty(
        asyncProperty(canaryPlan, async (plan) => {
          expect(leaksIn(await playCanaries(plan, canaries))).toEqual([]);
        }),
        { numRuns: runs },
      );
    }, 600_000);

    it("would be caught: without the option the same runs let them out", async () => {
      for (const plan of sample(canaryPlan, 20))
        expect(leaksIn(await playCanaries(plan, [])).length).toBeGreaterThan(3);
    }, 60_000);
  });
}
