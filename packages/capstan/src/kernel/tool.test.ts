import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { run } from "../runtime/run.ts";
import type { SchemaInput } from "../schema/schema.ts";
import { memory } from "../stores/memory.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { defineAgent } from "./agent.ts";
import { defineTool, hasEffect, isOrdered, isRepeatable, type Tool, type ToolContext } from "./tool.ts";

const noInput = { type: "object" } as const;

describe("defineTool", () => {
  it("keeps the name, the description and the JSON Schema for the model (S0-26, S4-01, S4-34)", () => {
    const { name, description, schema } = defineTool({
      name: "weather",
      description: "Current weather of a city",
      input: z.object({ city: z.string(), days: z.number().optional() }),
      execute: () => "sunny",
    });
    expect({ name, description }).toEqual({ name: "weather", description: "Current weather of a city" });
    expect(schema.json).toMatchObject({
      type: "object",
      properties: { city: { type: "string" }, days: { type: "number" } },
      required: ["city"],
    });
  });

  it("keeps phrases out of the schema, which models read, and leaves other examples in it", () => {
    const examples = [{ phrase: "weather in {city}", input: {} }];
    const properties = { city: { type: "string" } };
    const definition = { name: "weather", description: "Current weather", execute: () => "rain" };
    const tool = defineTool({ ...definition, input: { type: "object", properties }, examples });
    expect(tool).toMatchObject({ examples, schema: { json: { type: "object", properties } } });
    expect(tool.schema.json).not.toHaveProperty("examples");
    const mixed = { type: "object", properties, examples: [...examples, { city: "Oslo" }] };
    const other = defineTool({ ...definition, input: mixed });
    expect(other).toMatchObject({ examples, schema: { json: { examples: [{ city: "Oslo" }] } } });
  });

  it("keeps every setting (S4-34)", () => {
    const settings = {
      name: "pay",
      description: "Pays",
      effects: "send",
      idempotent: true,
      timeoutMs: 5,
      retry: { maxAttempts: 4 },
    } as const;
    expect(defineTool({ ...settings, input: noInput })).toMatchObject(settings);
  });

  it("returns a tool whose execute can be called in a test, without a run", async () => {
    const add = defineTool({
      name: "add",
      description: "Adds",
      input: z.object({ a: z.number(), b: z.number() }),
      execute: async ({ a, b }) => a + b,
    });
    expect(await add.execute({ a: 1, b: 2 }, {} as ToolContext)).toBe(3);
  });

  it("omits execute for a tool that the client runs", () => {
    expect(defineTool({ name: "pick", description: "Picks", input: noInput })).not.toHaveProperty("execute");
  });

  it.each([
    ["no approval", undefined, undefined],
    ["no approval for false", false, undefined],
    ["approval for true", true, true],
    ["approval with a reason", "It costs money.", "It costs money."],
  ])("turns %s into a function or nothing", (_what, needsApproval, asked) => {
    const tool = defineTool({
      name: "pay",
      description: "Pays",
      input: noInput,
      ...(needsApproval !== undefined && { needsApproval }),
    });
    expect(tool.needsApproval?.({}, { context: undefined })).toBe(asked);
  });

  it.each([
    ["an empty name", { name: "" }, "A tool needs a name of 1 to 128 characters"],
    ["a blank name", { name: "  " }, "A tool needs a name of 1 to 128 characters"],
    ["a name of 129 characters", { name: "n".repeat(129) }, "A tool needs a name of 1 to 128 characters"],
    ["no name", { name: undefined }, "A tool needs a name of 1 to 128 characters"],
    ["no description", { description: undefined }, 'The tool "weather" needs a description'],
    ["no schema", { input: undefined }, "An input schema must be JSON Schema, TypeBox"],
  ])("rejects %s", (_what, fault, message) => {
    const definition = { name: "weather", description: "Weather", input: noInput, ...fault };
    expect(() => defineTool(definition as { name: string; description: string; input: SchemaInput })).toThrow(
      expect.objectContaining({ code: "invalid_definition", message: expect.stringContaining(message) }),
    );
  });

  it.each<[fault: object, message: string]>([
    [
      { effects: "write" },
      'effects of the tool "row" cannot be "write": use "none", "ui", "state" or "send".',
    ],
    [{ effects: "Send" }, 'effects of the tool "row" cannot be "Send": use "none"'],
    [{ effects: null }, 'effects of the tool "row" cannot be null: use "none"'],
    [
      { reads: "untrusted" },
      'reads of the tool "row" cannot be "untrusted": use a list of "public", "private" or "untrusted".',
    ],
    [{ reads: ["web"] }, 'reads of the tool "row" cannot be ["web"]: use a list of'],
    [{ timeoutMs: "5s" }, 'timeoutMs of the tool "row" cannot be "5s": use a number from 1.'],
    [{ timeoutMs: 0 }, 'timeoutMs of the tool "row" cannot be 0: use a number from 1.'],
    [{ timeoutMs: Number.NaN }, 'timeoutMs of the tool "row" cannot be NaN: use a number from 1.'],
    [{ timeoutMs: 5n }, 'timeoutMs of the tool "row" cannot be 5n: use a number from 1.'],
    [{ cacheMs: -1 }, 'cacheMs of the tool "row" cannot be -1: use a number from 0.'],
    [
      { maxResultSize: { data: 10 } },
      'maxResultSize of the tool "row" cannot be {"data":10}: use a number from 0, "unlimited", or an object with both `data` and `text`.',
    ],
    [{ maxResultSize: { data: 10, text: 10, lines: 3 } }, 'maxResultSize of the tool "row" cannot be'],
    [{ retry: 3 }, 'retry of the tool "row" cannot be 3: use an object with maxAttempts, baseMs'],
    [
      { retry: { maxAttempts: 0 } },
      'retry.maxAttempts of the tool "row" cannot be 0: use a whole number from 1.',
    ],
    [
      { retry: { attempts: 2 } },
      'Unknown field retry.attempts of the tool "row". Did you mean "maxAttempts"?',
    ],
    [{ execute: "x" }, 'execute of the tool "row" cannot be "x": use a function.'],
    [{ target: "sea" }, 'target of the tool "row" cannot be "sea": use a function.'],
    [
      { examples: "weather" },
      'examples of the tool "row" cannot be "weather": use a list of `{ phrase, input }`.',
    ],
    [{ examples: ["weather"] }, 'examples of the tool "row" cannot be ["weather"]: use a list of'],
    [{ examples: [{ phrase: "row", input: "now" }] }, 'examples of the tool "row" cannot be'],
    [
      { needsApproval: 5 },
      'needsApproval of the tool "row" cannot be 5: use true, false, a reason, or a function.',
    ],
    [{ needsApproval: "" }, 'needsApproval of the tool "row" cannot be "": use true'],
    [{ idempotent: "yes" }, 'idempotent of the tool "row" cannot be "yes": use true or false.'],
    [{ foreign: 1 }, 'foreign of the tool "row" cannot be 1: use true, false or the name of its origin.'],
    [
      { resultForModel: "short" },
      'resultForModel of the tool "row" cannot be "short": use "full", "summary" or a function.',
    ],
    [{ output: "text" }, 'output of the tool "row" cannot be "text": use a schema.'],
    [{ jsonSchema: "text" }, 'jsonSchema of the tool "row" cannot be "text": use an object.'],
  ])("rejects %o and names the tool, the field and the allowed values", (fault, message) => {
    const definition = { name: "row", description: "Rows a boat", input: noInput, ...fault };
    expect(() => defineTool(definition)).toThrow(
      expect.objectContaining({ code: "invalid_definition", message: expect.stringContaining(message) }),
    );
  });

  it("treats an undefined setting as absent", () => {
    const unset = { effects: undefined, reads: undefined, timeoutMs: undefined, retry: undefined };
    const definition = { name: "row", description: "Rows a boat", input: noInput, ...unset };
    expect(() =>
      defineTool(definition as { name: string; description: string; input: object }),
    ).not.toThrow();
  });

  it("accepts every documented setting", () => {
    expect(() =>
      defineTool({
        name: "row",
        description: "Rows a boat",
        input: noInput,
        output: z.object({}),
        examples: [{ phrase: "row to {place}" }, { phrase: "row home", input: { place: "home" } }],
        effects: "ui",
        reads: [],
        target: () => "sea",
        foreign: false,
        idempotent: false,
        timeoutMs: Number.MAX_SAFE_INTEGER,
        retry: {},
        cacheMs: 0,
        maxResultSize: { data: 0, text: 10 },
        resultForModel: () => "rowed",
        needsApproval: () => false,
        execute: () => ({}),
      }),
    ).not.toThrow();
  });

  it("accepts a name of 128 characters", () => {
    expect(defineTool({ name: "n".repeat(128), description: "", input: noInput }).name).toHaveLength(128);
  });
});

describe("kinds of tools", () => {
  const kinds = {
    "a data query": [() => [{ id: 1, title: "Oslo" }], '[{"id":1,"title":"Oslo"}]'],
    "a call to another service": [async () => ({ content: "12 degrees" }), "12 degrees"],
    "a calculation": [() => 6 * 7, "42"],
    "an update of the user interface": [
      () => ({ message: "Shown.", ui: { kind: "map", props: { zoom: 3 } } }),
      "Shown.",
    ],
    "a change of state": [() => ({ content: "Sold one.", affected: ["apples"] }), "Sold one."],
    "a combination of them": [
      async () => ({ data: { left: 2 }, ui: { kind: "badge", props: {} } }),
      '{"left":2}',
    ],
  } as const;

  it.each(Object.entries(kinds))("%s, as any function (S0-29)", async (_kind, [execute, content]) => {
    const model = scriptedModel([{ calls: [{ name: "act" }] }, { text: "Done." }]);
    const act = defineTool({ name: "act", description: "Acts", input: noInput, execute });
    const result = await run(defineAgent({ name: "helper", model, tools: [act] }), "Go");
    expect(result.toolCalls).toMatchObject([{ name: "act", status: "ok", result: content }]);
    expect(model.requests[1]?.history.at(-1)).toMatchObject({ type: "result", name: "act", content });
  });

  it("one that receives its validated input, its ids, a signal and the context of the run (S4-34)", async () => {
    const seen: unknown[] = [];
    const look = defineTool({
      name: "look",
      description: "Looks",
      input: Type.Object({ at: Type.String() }),
      execute(input, { signal, callId, idempotencyKey, runId, sessionId, context }) {
        seen.push({ input, callId, idempotencyKey, runId, sessionId, context, aborted: signal.aborted });
      },
    });
    const model = scriptedModel([
      { calls: [{ id: "c1", name: "look", input: { at: "sky" } }] },
      { text: "Blue." },
    ]);
    await run(defineAgent({ name: "helper", model, tools: [look] }), "Look", {
      store: memory(),
      session: "ses",
      runId: "r1",
      context: { user: "Ada" },
      clock: fakeClock(),
    });
    expect(seen).toEqual([
      {
        input: { at: "sky" },
        callId: "c1",
        idempotencyKey: "r1/c1",
        runId: "r1",
        sessionId: "ses",
        context: { user: "Ada" },
        aborted: false,
      },
    ]);
  });
});

const tools: readonly (readonly [Pick<Tool, "effects" | "idempotent">, boolean, boolean])[] = [
  [{}, false, false],
  [{ effects: "none" }, true, false],
  [{ effects: "ui" }, false, true],
  [{ effects: "state" }, false, true],
  [{ effects: "send" }, false, true],
  [{ effects: "send", idempotent: true }, true, true],
  [{ idempotent: true }, true, false],
  [{ effects: "none", idempotent: false }, true, false],
];

it.each(tools)("a tool with %j: repeatable %j, ordered %j (S4-16)", (settings, repeatable, ordered) => {
  expect(isRepeatable(settings)).toBe(repeatable);
  expect(isOrdered(settings)).toBe(ordered);
});

it.each<[effects: unknown, has: boolean]>([
  ["none", false],
  ["ui", false],
  ["state", true],
  ["send", true],
  [undefined, true],
  [null, true],
  ["write", true],
  ["None", true],
])("effects %j are subject to the safety gate: %j", (effects, has) => {
  expect(hasEffect({ effects } as Pick<Tool, "effects">)).toBe(has);
});
