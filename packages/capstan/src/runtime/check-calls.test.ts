import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Agent, defineAgent, indexAgents } from "../kernel/agent.ts";
import { parseArguments } from "../kernel/calls/parse-arguments.ts";
import type { CallPart } from "../kernel/history.ts";
import { createState } from "../kernel/state.ts";
import { defineTool, type Tool } from "../kernel/tool.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { checkCalls, createUnknownToolError, validateInput } from "./check-calls.ts";

const search = defineTool({
  name: "search",
  description: "Searches",
  input: z.object({ query: z.string(), limit: z.number().default(5) }),
});
const list = defineTool({
  name: "list",
  description: "Lists",
  input: z.object({ from: z.string().optional() }),
});

function createAgentWithTools(...tools: Tool[]): Agent {
  return defineAgent({ name: "helper", model: scriptedModel([]), tools });
}

const blobs = { put: async () => "blob_1", get: async () => undefined };

async function check(call: Partial<CallPart> & { readonly name: string }, ...tools: Tool[]) {
  const agent = createAgentWithTools(...tools);
  const io = {
    agents: indexAgents(agent),
    state: createState("ses"),
    clock: fakeClock(),
    context: { user: "Ada" },
    hooks: {},
    emit: () => undefined,
    resolveModel: () => scriptedModel([]),
    blobs,
  };
  const { checks } = await checkCalls([{ type: "call", id: "c1", input: {}, ...call }], agent, io);
  return checks;
}

describe("a call made by the model", () => {
  it("passes when its tool exists and its arguments are valid (S3-14)", async () => {
    expect(await check({ name: "search", input: { query: "x" } }, search)).toBeUndefined();
  });

  it("of a misspelled tool gets similar names (S0-37)", async () => {
    expect(await check({ name: "serch" }, search, list)).toEqual({
      c1: {
        error: {
          code: "unknown_tool",
          message: 'Unknown tool: no tool is named "serch". Did you mean "search"?',
          retryable: false,
        },
      },
    });
  });

  it("of an unknown tool gets the list of tools (S0-37)", () => {
    const told = (...tools: Tool[]) =>
      createUnknownToolError("teleport", createAgentWithTools(...tools), { state: createState("s") }).message;
    expect(told(search, list)).toBe(
      'Unknown tool: no tool is named "teleport". The tools are: search, list.',
    );
    expect(told()).toBe('Unknown tool: no tool is named "teleport". There are no tools.');
  });

  it("of the fallback tool, which is not offered to the model, is unknown", async () => {
    const rescue = defineTool({ name: "rescue", description: "Last resort", input: { type: "object" } });
    const agent = defineAgent({
      name: "helper",
      model: scriptedModel([]),
      tools: [search],
      fallbackTool: rescue,
    });
    const io = {
      agents: indexAgents(agent),
      state: createState("ses"),
      clock: fakeClock(),
      context: undefined,
      hooks: {},
      emit: () => undefined,
      resolveModel: () => scriptedModel([]),
      blobs,
    };
    const call: CallPart = { type: "call", id: "c1", name: "rescue", input: {} };
    expect((await checkCalls([call], agent, io)).checks).toMatchObject({
      c1: { error: { code: "unknown_tool" } },
    });
  });

  it.each([
    ["blank", ""],
    ["spaces", "  "],
    ["with a newline", "search\n"],
    ["__proto__", "__proto__"],
  ])("of a tool whose name is %s is unknown (F30, A117)", async (_what, name) => {
    expect(await check({ name }, search)).toMatchObject({ c1: { error: { code: "unknown_tool" } } });
  });

  it("of a tool whose name has 10,000 characters shows 128 of them (F30)", async () => {
    const checks = await check({ name: "n".repeat(10_000) }, search);
    const message = checks?.c1?.error?.message ?? "";
    expect(message).toContain(`"${"n".repeat(128)}"`);
    expect(message).not.toContain("n".repeat(129));
  });

  it("without arguments is checked against the schema, which may allow that or not (F31, S0-26, S1-29)", async () => {
    const call = parseArguments("");
    const input = call.ok ? call.input : {};
    expect(await check({ name: "list", input }, list)).toBeUndefined();
    expect(await check({ name: "search", input }, search)).toMatchObject({
      c1: { error: { code: "bad_arguments", message: expect.stringContaining("query: ") } },
    });
  });

  it.each([
    ["[1]", "they must be a JSON object, not an array"],
    ['"text"', "they must be a JSON object, not a string"],
    ["7", "they must be a JSON object, not a number"],
    ["null", "they must be a JSON object, not null"],
    ['{"query":"half', "they are not valid JSON"],
    ['{"query":"x","limit":1e999}', "they hold a number too large to represent"],
    ['{"__proto__":{"query":"x"}}', 'they hold the key "__proto__"'],
  ])("with the arguments %s is told what is wrong with them (F32, F33, S1-28, A118)", async (raw, problem) => {
    const checks = await check({ name: "search", raw }, search);
    expect(checks?.c1?.error).toEqual({
      code: "bad_arguments",
      message: expect.stringContaining(`Bad arguments for "search": ${problem}`),
      retryable: false,
    });
    expect(checks?.c1?.error?.message).toMatch(/\. Correct them and call again\.$/);
  });

  it("lists at most ten issues with its arguments", async () => {
    const fields = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`f${n}`, z.string()]));
    const tool = defineTool({ name: "form", description: "", input: z.object(fields) });
    const checks = await check({ name: "form" }, tool);
    expect(checks?.c1?.error?.message.match(/f\d+: /g)).toHaveLength(10);
  });

  it("is refused, and the run continues, when its schema throws (S0-37)", async () => {
    const input = z.object({}).refine(() => {
      throw new Error("no database");
    });
    const tool = defineTool({ name: "odd", description: "", input });
    expect(await check({ name: "odd" }, tool)).toMatchObject({
      c1: { error: { code: "tool_failed", message: "no database" } },
    });
  });

  it.each([
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
  ])("with the id %s has a check of its own under that key (A117)", async (id) => {
    const checks = await check({ id, name: "nope" }, search);
    expect(Object.keys(checks ?? {})).toEqual([id]);
    expect(Object.getPrototypeOf(checks)).toBe(Object.prototype);
  });
});

describe("the arguments of a call", () => {
  it("are transformed by the schema (S0-26)", async () => {
    expect(await validateInput(search, { query: "x" })).toEqual({ value: { query: "x", limit: 5 } });
  });
});

describe("a call that needs approval", () => {
  const pay = (needsApproval: Tool["needsApproval"] | boolean | string) =>
    defineTool({
      name: "pay",
      description: "Pays",
      input: z.object({ amount: z.number().default(7) }),
      ...(needsApproval !== undefined && { needsApproval }),
    });
  const digest = expect.stringMatching(/^[0-9a-f]{64}$/);
  const always = { digest };

  it.each([
    ["a plain yes", true, '"pay" needs approval.'],
    ["a reason", "It costs money.", "It costs money."],
    ["a function that says yes", () => true, '"pay" needs approval.'],
    ["a function that gives a reason", async () => "Above the limit.", "Above the limit."],
  ])("by %s says why, and what the approval is bound to", async (_what, needsApproval, reason) => {
    expect(await check({ name: "pay" }, pay(needsApproval))).toEqual({
      c1: { approval: { reason, digest, always } },
    });
  });

  it("asks with the validated input and the context of the run", async () => {
    const asked: unknown[] = [];
    const tool = pay((input, { context }) => asked.push({ input, context }) < 0);
    expect(await check({ name: "pay" }, tool)).toBeUndefined();
    expect(asked).toEqual([{ input: { amount: 7 }, context: { user: "Ada" } }]);
  });

  it.each([
    ["an empty text", ""],
    ["a blank text", " \n"],
  ])("by %s still says why", async (_what, said) => {
    expect(
      await check(
        { name: "pay" },
        pay(() => said),
      ),
    ).toEqual({
      c1: { approval: { reason: '"pay" needs approval.', digest, always } },
    });
  });

  it.each([
    ["its own time", { timeoutMs: 20 }, 20],
    ["the policy's", {}, 60_000],
  ])("asks the user when the tool does not answer within %s", async (_what, settings, ms) => {
    const clock = fakeClock({ skipUpToMs: 60_000 });
    const slow = { ...pay(() => new Promise<boolean>(() => undefined)), ...settings };
    const agent = createAgentWithTools(slow);
    const io = {
      ...{ agents: indexAgents(agent), state: createState("ses"), clock, context: undefined, hooks: {} },
      ...{ emit: () => undefined, resolveModel: () => scriptedModel([]), blobs },
    };
    const { checks } = await checkCalls([{ type: "call", id: "c1", name: "pay", input: {} }], agent, io);
    const reason = `"pay" did not say within ${ms} ms whether it needs approval.`;
    expect(checks).toEqual({ c1: { approval: { reason, digest, always } } });
  });

  it("leaves no timer behind when the tool answers in time", async () => {
    const clock = fakeClock();
    const agent = createAgentWithTools(pay(async () => false));
    const io = {
      ...{ agents: indexAgents(agent), state: createState("ses"), clock, context: undefined, hooks: {} },
      ...{ emit: () => undefined, resolveModel: () => scriptedModel([]), blobs },
    };
    const { checks } = await checkCalls([{ type: "call", id: "c1", name: "pay", input: {} }], agent, io);
    expect(checks).toBeUndefined();
    expect(clock.pending).toBe(0);
  });

  it("does not ask the user when it could not run anyway", async () => {
    expect(await check({ name: "pay", input: { amount: "much" } }, pay(true))).toMatchObject({
      c1: { error: { code: "bad_arguments" } },
    });
  });

  it("is refused when `needsApproval` throws", async () => {
    const tool = pay(() => {
      throw new Error("no directory");
    });
    expect(await check({ name: "pay" }, tool)).toMatchObject({
      c1: { error: { code: "tool_failed", message: "no directory" } },
    });
  });
});
