// Random runs with secrets planted in all text: user input, model output, tool results, errors. After each run,
// everything that left it is searched for the secrets, in every supported encoding.
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
import { AgentError } from "../base/errors.ts";
import { type Agent, defineAgent } from "../kernel/agent.ts";
import { type Event, isFact } from "../kernel/event.ts";
import { defineTool, type Tool, type ToolContext } from "../kernel/tool.ts";
import { jsonLines } from "../logs/json-lines.ts";
import { readableLog } from "../logs/readable-log.ts";
import { reasoningLog } from "../logs/reasoning-log.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
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

const encodings: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => Buffer.from(secret).toString("base64"),
  (secret) => Buffer.from(secret).toString("base64url"),
  (secret) => Buffer.from(secret).toString("hex"),
  (secret) => Buffer.from(secret).toString("hex").toUpperCase(),
  encodeURIComponent,
  (secret) => JSON.stringify(secret).slice(1, -1),
];

const templates: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => `Incorrect API key provided: ${secret}. You can find your key at https://example.org.`,
  (secret) => `GET https://api.example/v1?q=1&key=${secret}&page=2 failed`,
  (secret) => `> authorization: Bearer ${secret}\n> accept: */*\n`,
  (secret) => `sk-proj-Zx81 sk-ant-api0 ${secret}${secret} ghp_`,
];

type PlantedSecret = { readonly canary: number; readonly form: number; readonly template: number };

/** Ways in which a tool can leak text. Client tools have none: the client answers them. */
const leakPaths: {
  readonly [way: string]: ((said: string, context: ToolContext) => unknown) | undefined;
} = {
  client: undefined,
  text: (said) => said,
  data: (said) => ({ data: { [said]: [said, { deep: said }], n: 1 }, message: said }),
  number: () => ({ data: { pin, list: [pin] } }),
  parts: createRichOutput,
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

function createRichOutput(said: string): unknown {
  const half = Math.floor(said.length / 2);
  return {
    content: [said.slice(0, half), said.slice(half)].map((text) => ({ type: "text", text })),
    ui: { kind: "card", props: { said } },
    contexts: [{ id: said, content: said, source: { title: said, url: said } }],
    affected: { said },
  };
}

type PlannedCall = {
  readonly leakPath: string;
  readonly plant: PlantedSecret;
  readonly argument: PlantedSecret | null;
  readonly id: PlantedSecret | null;
  readonly asks: boolean;
};

type PlannedTurn = {
  readonly text: PlantedSecret | null;
  readonly reasoning: PlantedSecret | null;
  readonly split: number;
  readonly flaky: boolean;
  readonly calls: readonly PlannedCall[];
};

/** The places of the planted secrets in a run. */
export type CanaryPlan = {
  readonly asked: PlantedSecret;
  readonly instructions: PlantedSecret;
  readonly steered: PlantedSecret | null;
  readonly answer: PlantedSecret;
  readonly failure: PlantedSecret | null;
  readonly turns: readonly PlannedTurn[];
};

const arbitraryPlant: Arbitrary<PlantedSecret> = record({
  canary: nat(canaries.length - 1),
  form: nat(encodings.length - 1),
  template: nat(templates.length - 1),
});

const arbitraryCall: Arbitrary<PlannedCall> = record({
  leakPath: constantFrom(...Object.keys(leakPaths)),
  plant: arbitraryPlant,
  argument: option(arbitraryPlant),
  id: option(arbitraryPlant, { freq: 3 }),
  asks: boolean(),
});

const arbitraryPlan: Arbitrary<CanaryPlan> = record({
  asked: arbitraryPlant,
  instructions: arbitraryPlant,
  steered: option(arbitraryPlant),
  answer: arbitraryPlant,
  failure: option(arbitraryPlant, { freq: 2 }),
  turns: array(
    record({
      text: option(arbitraryPlant),
      reasoning: option(arbitraryPlant),
      split: integer({ min: 1, max: 9 }),
      flaky: boolean(),
      calls: array(arbitraryCall, { minLength: 1, maxLength: 3 }),
    }),
    { maxLength: 3 },
  ),
});

function formatSecret({ canary, form, template: frame }: PlantedSecret): string {
  const secret = canaries[canary] ?? "";
  return (templates[frame] ?? String)((encodings[form] ?? String)(secret));
}

/** Everything that left a run, by channel. */
export type Observations = Map<string, unknown[]>;

/** Runs a plan to its end. */
async function runPlan(plan: CanaryPlan, secrets: readonly string[]): Promise<Observations> {
  const observations: Observations = new Map();
  const observe = (place: string, value: unknown) =>
    observations.set(place, [...(observations.get(place) ?? []), value]);
  const store = memory();
  const { putBlob } = store;
  const observedStore: typeof store = {
    ...store,
    async putBlob(session, blob) {
      observe("blobs", typeof blob.data === "string" ? blob.data : Buffer.from(blob.data).toString());
      return putBlob(session, blob);
    },
  };
  const write = (line: string) => observe("logs", line);
  const sinks = [jsonLines(write, { deltas: true }), readableLog(write), reasoningLog(write)];
  const onEvent = (event: Event) => {
    for (const sink of sinks) sink(event);
  };
  const { agent, model } = createCanaryAgent(plan, (input) => observe("inputs", input));
  const started = run(agent, formatSecret(plan.asked), {
    ...{
      session: "s",
      store: observedStore,
      hooks: { onEvent },
      secrets,
      clock: fakeClock({ skipUpToMs: 30_000 }),
    },
    policy: { maxTurns: 8, gate: "off" },
  });
  if (plan.steered) started.steer(formatSecret(plan.steered));
  for (;;) {
    for await (const event of started) observe("events", event);
    const result = await started;
    observe("result", result);
    if (result.status !== "waiting") break;
    for (const { callId, needs } of result.pending) {
      if (needs === "approval") started.approve(callId);
      else started.answer(callId, { content: formatSecret(plan.answer), data: [formatSecret(plan.answer)] });
    }
  }
  observe("deltas", joinDeltas(observations.get("events") as Event[]));
  observe("store", await store.read("s"));
  observe("requests", model.requests);
  return observations;
}

/** Joins deltas as a client would. */
function joinDeltas(events: readonly Event[]): string[] {
  const texts = new Map<string, string>();
  for (const event of events) {
    if (isFact(event) || !("delta" in event)) continue;
    const name = `${event.turn} ${event.type} ${"id" in event ? event.id : ""}`;
    texts.set(name, (texts.get(name) ?? "") + event.delta);
  }
  return [...texts.values()];
}

function createCanaryAgent(
  plan: CanaryPlan,
  onInput: (input: unknown) => void,
): { readonly agent: Agent; readonly model: ReturnType<typeof scriptedModel> } {
  const asked = new Set<number>();
  const model = scriptedModel(({ history }) => {
    const turn = history.filter((entry) => entry.type === "assistant").length;
    const isFirst = !asked.has(turn);
    asked.add(turn);
    const planned = plan.turns[turn];
    if (planned) return createStep(planned, { turn, isFirst });
    const failure = plan.failure && new AgentError("model_auth", formatSecret(plan.failure));
    return { text: formatSecret(plan.answer), split: 2, ...(failure && { error: failure }) };
  });
  const tools = plan.turns.flatMap(({ calls }, turn) =>
    calls.map((planned, index) => createCanaryTool(planned, formatToolName(turn, index), onInput)),
  );
  return {
    agent: defineAgent({ name: "planted", model, instructions: formatSecret(plan.instructions), tools }),
    model,
  };
}

const formatToolName = (turn: number, index: number) => `tool_${turn}_${index}`;

function createStep(
  { text, reasoning, split, flaky, calls }: PlannedTurn,
  { turn, isFirst }: { turn: number; isFirst: boolean },
): ScriptedStep {
  return {
    ...(text && { text: formatSecret(text) }),
    ...(reasoning && { reasoning: formatSecret(reasoning) }),
    split,
    ...(flaky && isFirst && { finish: "none" }),
    calls: calls.map(({ argument, id }, index) => ({
      name: formatToolName(turn, index),
      ...(id && { id: formatSecret(id) }),
      input: argument ? { note: formatSecret(argument), list: [formatSecret(argument)] } : {},
    })),
  };
}

function createCanaryTool(
  { leakPath: way, asks, plant }: PlannedCall,
  name: string,
  onInput: (input: unknown) => void,
): Tool {
  const said = formatSecret(plant);
  const about = { name, description: said, input: { type: "object" } } as const;
  const give = leakPaths[way];
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

/** Every encoding of every canary, as one pattern. */
const anyCanary = new RegExp(
  [...new Set(canaries.flatMap((canary) => encodings.map((form) => form(canary))))]
    .map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"))
    .join("|"),
);

/** The canaries that were found, with their channel. */
function findLeaks(observations: Observations): string[] {
  return [...observations].flatMap(([place, values]) => {
    const texts = new Set(values.flatMap((value) => [JSON.stringify(value), ...collectTexts(value)]));
    const found = [...texts].map((text) => anyCanary.exec(text)?.[0]).filter((text) => text !== undefined);
    return found.map((text) => `${text} in ${place}`);
  });
}

/** All strings, keys and numbers in a value. */
function collectTexts(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [String(value)];
  return Object.entries(value).flatMap(([key, member]) => [key, ...collectTexts(member)]);
}

/** Checks that no planted secret leaves a run, for the given number of runs. */
export function canarySuite(runs: number): void {
  describe("a run with secrets", () => {
    it("leaks no canary to the store, the model, tools, listeners, logs or its result (A110, A111, A112)", async () => {
      await assertProperty(
        asyncProperty(arbitraryPlan, async (plan) => {
          expect(findLeaks(await runPlan(plan, canaries))).toEqual([]);
        }),
        { numRuns: runs },
      );
    }, 600_000);

    it("leaks them without the option, so that a leak would be detected", async () => {
      for (const plan of sample(arbitraryPlan, 20))
        expect(findLeaks(await runPlan(plan, [])).length).toBeGreaterThan(3);
    }, 60_000);
  });
}
