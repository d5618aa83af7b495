import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import type { Json } from "../base/json.ts";
import { defineAgent } from "../kernel/agent.ts";
import type { Event } from "../kernel/event.ts";
import { listServerLimits } from "../kernel/settings/servers.ts";
import { effortLevels, type ModelSettings } from "../kernel/settings/settings.ts";
import { findSettingProblems, type ModelApi } from "../kernel/settings/support.ts";
import { defineTool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import { compatible } from "./compatible.ts";
import { compatibleServerNames, findCompatibleServer } from "./compatible-servers.ts";
import { openai } from "./openai.ts";
import { createChatWire, openAiChat } from "./openai-chat.ts";
import { openAiResponses } from "./openai-responses.ts";
import type { Wire } from "./wire.ts";

type Fields = Record<string, unknown>;
type Target = {
  readonly name: string;
  readonly wire: Wire;
  readonly api: Parameters<typeof findSettingProblems>[0];
};

const toTarget = (api: ModelApi, wire: Wire): Target => ({ name: api, wire, api });
const targets: readonly Target[] = [
  toTarget("openai-responses", openAiResponses),
  toTarget("openai-chat", openAiChat),
  ...compatibleServerNames.map((name): Target => {
    const quirks = findCompatibleServer(name)?.quirks ?? {};
    return { name, wire: createChatWire(quirks), api: listServerLimits(quirks) };
  }),
];

const modelName = fc.constantFrom(
  ...["gpt-4o", "gpt-4.1", "gpt-5", "gpt-5-mini", "gpt-5-pro", "gpt-5.2", "gpt-5.2-chat-latest", "gpt-5.5"],
  ...["gpt-5.6-sol", "gpt-6-sol", "gpt-6-astra", "o3", "o4-mini", "ft:gpt-4o:acme", "my-deployment"],
  ...["openai/gpt-oss-120b", "qwen/qwen3-32b", "zai-glm-4.7", "grok-4.3", "grok-4", "mistral-small-latest"],
);
const settingsArbitrary: fc.Arbitrary<ModelSettings> = fc.record(
  {
    effort: fc.oneof(fc.constantFrom(...effortLevels), fc.integer({ min: 1, max: 99_999 })),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    topP: fc.double({ min: 0, max: 1, noNaN: true }),
    stop: fc.oneof(
      fc.string({ minLength: 1 }),
      fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 4 }),
    ),
    seed: fc.integer(),
    maxOutputTokens: fc.integer({ min: 1, max: 99_999 }),
    parallelToolCalls: fc.boolean(),
    serviceTier: fc.string({ minLength: 1 }),
    cache: fc.constantFrom("off", "short", "long"),
    logprobs: fc.oneof(fc.boolean(), fc.integer({ min: 0, max: 20 })),
  },
  { requiredKeys: [] },
);

const tools = [{ name: "pay", description: "Pays", input: { type: "object", properties: {} } }];

function buildBody({ wire }: Target, model: string, settings: ModelSettings): Fields {
  const request = {
    ...{ instructions: 'Say "hi"\u2028', history: [{ type: "user", content: "{}" }] as const, tools },
    ...{ toolChoice: "auto" as const, thinking: false },
  };
  return JSON.parse(wire.toRequest(request, { model, stream: true, ...settings }));
}

/** A body as entries, so that fields can be joined and compared. Lists of `include` are one entry per value. */
function toEntries({ include, ...fields }: Fields): string[] {
  const values = Array.isArray(include) ? include.map((value) => `include ${value}`) : [];
  return [...Object.entries(fields).map((entry) => JSON.stringify(entry)), ...values].toSorted();
}

describe.each(targets)("a request with any settings ($name)", (target) => {
  it("is JSON in which every setting has its own fields, whatever else is set", () => {
    const check = (model: string, settings: ModelSettings) => {
      const { effort } = settings;
      const context: ModelSettings = effort === undefined ? {} : { effort };
      const expected = new Set(toEntries(buildBody(target, model, context)));
      for (const [field, value] of Object.entries(settings))
        for (const entry of toEntries(buildBody(target, model, { ...context, [field]: value })))
          expected.add(entry);
      expect(toEntries(buildBody(target, model, settings))).toEqual([...expected].toSorted());
    };
    fc.assert(fc.property(modelName, settingsArbitrary, check), { numRuns: 100 });
  });

  it("has every field of extra, which wins over the settings", () => {
    const key = fc.string().filter((name) => !["tools", "include", "text", "__proto__"].includes(name));
    const check = (model: string, settings: ModelSettings, extra: { readonly [field: string]: Json }) => {
      const fields: Fields = { ...extra, temperature: "own", metadata: extra };
      const body = buildBody(target, model, {
        ...settings,
        extra: fields as ModelSettings["extra"] & object,
      });
      for (const [name, value] of Object.entries(fields))
        expect(JSON.stringify([name, body[name]])).toBe(JSON.stringify([name, value]));
    };
    const extraArbitrary = fc.dictionary(key, fc.jsonValue() as fc.Arbitrary<Json>, {
      noNullPrototype: true,
    });
    fc.assert(fc.property(modelName, settingsArbitrary, extraArbitrary, check), { numRuns: 50 });
  });

  it("lacks exactly the settings that are reported as ignored or refused", () => {
    const check = (model: string, settings: ModelSettings) => {
      const problems = new Set(findSettingProblems(target.api, model, settings).map(({ field }) => field));
      for (const [field, value] of Object.entries(settings) as [keyof ModelSettings, unknown][]) {
        const { [field]: _left, ...others } = settings;
        const isSent =
          JSON.stringify(buildBody(target, model, settings)) !==
          JSON.stringify(buildBody(target, model, field === "effort" ? { ...others } : others));
        // The nearest effort or time is sent, and a value that is the default needs no field.
        if (problems.has(field))
          expect([field, isSent && field !== "effort" && field !== "cache"]).toEqual([field, false]);
        else if (!isDefault(field, value)) expect([field, isSent]).toEqual([field, true]);
      }
    };
    fc.assert(fc.property(modelName, settingsArbitrary, check), { numRuns: 100 });
  });
});

function isDefault(field: keyof ModelSettings, value: unknown): boolean {
  if (field === "logprobs") return value === false;
  if (field === "parallelToolCalls") return value === true;
  return (field === "cache" && value === "short") || (field === "effort" && value === "none");
}

const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Answers each POST with the next list of events, or with the next object, and remembers the bodies. */
async function serve(...answers: readonly (readonly object[] | object)[]) {
  const bodies: Fields[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const bytes of request) text += String(bytes);
    const answer = answers[bodies.push(JSON.parse(text)) - 1] ?? [];
    const isStream = Array.isArray(answer);
    response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
    if (!isStream) return response.end(JSON.stringify(answer));
    for (const event of answer) response.write(`data: ${JSON.stringify(event)}\n\n`);
    return response.end("data: [DONE]\n\n");
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { bodies, baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

const look = defineTool({
  name: "look",
  description: "Looks",
  input: { type: "object", properties: {} },
  effects: "none",
  execute: () => "seen",
});

async function collectEvents(agent: ReturnType<typeof defineAgent>): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of run(agent, "Look around.")) events.push(event as Event);
  return events;
}

const logprob = { token: "Hi", logprob: -0.25, top_logprobs: [{ token: "Hi", logprob: -0.25 }] };
const token = { token: "Hi", logprob: -0.25, top: [{ token: "Hi", logprob: -0.25 }] };

describe("over HTTP", () => {
  it("a run streams reasoning summaries, sends reasoning back, and stores log probabilities of another turn", async () => {
    const reasoning = {
      ...{ type: "reasoning", id: "rs_1", encrypted_content: "secret" },
      summary: [{ type: "summary_text", text: "I should look." }],
    };
    const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "look", arguments: "{}" };
    const content = [{ type: "output_text", text: "Hi", annotations: [], logprobs: [logprob] }];
    const message = { type: "message", id: "msg_1", role: "assistant", status: "completed", content };
    const usage = { input_tokens: 1, output_tokens: 1 };
    const { bodies, baseURL } = await serve(
      [
        {
          type: "response.reasoning_summary_text.delta",
          output_index: 0,
          summary_index: 0,
          delta: "I should ",
        },
        { type: "response.reasoning_summary_text.delta", output_index: 0, summary_index: 0, delta: "look." },
        { type: "response.completed", response: { status: "completed", output: [reasoning, call], usage } },
      ],
      [
        { type: "response.output_text.delta", output_index: 0, delta: "Hi", logprobs: [logprob] },
        { type: "response.completed", response: { status: "completed", output: [message], usage } },
      ],
    );
    const events = await collectEvents(
      defineAgent({
        name: "a",
        model: openai({ model: "gpt-5.2", apiKey: "k", baseURL }),
        tools: [look],
        settings: ({ turn }) =>
          turn === 1
            ? { effort: "high" }
            : { effort: "none", temperature: 0, logprobs: 1, extra: { metadata: { turn } } },
      }),
    );
    expect(bodies[0]).toMatchObject({
      reasoning: { effort: "high", summary: "auto" },
      include: ["reasoning.encrypted_content"],
    });
    expect(bodies[1]).toMatchObject({
      ...{ reasoning: { effort: "none" }, temperature: 0, top_logprobs: 1, metadata: { turn: 2 } },
      include: expect.arrayContaining(["message.output_text.logprobs"]),
      input: expect.arrayContaining([reasoning]),
    });
    const deltas = events.flatMap((event) => (event.type === "reasoning_delta" ? event.delta : []));
    expect(deltas.join("")).toBe("I should look.");
    const messages = events.filter((event) => event.type === "message");
    expect(messages[0]).toMatchObject({ settings: { effort: "high" } });
    expect(messages[1]).toMatchObject({ logprobs: [token], settings: { logprobs: 1 } });
  });

  it.each([
    true,
    false,
  ])("a compatible server reasons and reports log probabilities (stream: %s)", async (stream) => {
    const choice = { index: 0, finish_reason: "stop", logprobs: { content: [logprob] } };
    const answer = { content: "Hi", reasoning: "Hm." };
    const usage = { prompt_tokens: 1, completion_tokens: 1 };
    const { bodies, baseURL } = await serve(
      stream
        ? [{ choices: [{ ...choice, delta: answer }], usage }]
        : { choices: [{ ...choice, message: answer }], usage },
    );
    const model = compatible({
      model: "qwen3",
      baseURL,
      stream,
      quirks: { thinking: "chat_template_kwargs" },
    });
    const settings: ModelSettings = { effort: "low", logprobs: 1, seed: 7, stop: "END" };
    const events = await collectEvents(defineAgent({ name: "a", model, settings }));
    expect(bodies[0]).toMatchObject({
      ...{ logprobs: true, top_logprobs: 1, seed: 7, stop: "END" },
      chat_template_kwargs: { enable_thinking: true, reasoning_effort: "low" },
    });
    expect(events.find(({ type }) => type === "reasoning_delta")).toMatchObject({ delta: "Hm." });
    expect(events.find(({ type }) => type === "message")).toMatchObject({ logprobs: [token] });
  });
});
