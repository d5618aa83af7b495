import { describe, expect, it } from "vitest";
import { defineAgent, type InstructionsInput, indexAgents } from "../kernel/agent.ts";
import type { ModelEffect } from "../kernel/effect.ts";
import type { Fact } from "../kernel/event.ts";
import { defaultPolicy } from "../kernel/policy.ts";
import { defineTool } from "../kernel/tool.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { buildRequest } from "./build-request.ts";
import { fold } from "./facts.ts";

const effect: ModelEffect = {
  type: "model",
  id: "turn.2.0",
  agent: "helper",
  turn: 2,
  candidate: 0,
  hasMoreRoom: false,
  continueAfter: [],
  maxTurns: 10,
  messageCount: 1,
  tools: "offered",
  chain: "main",
  notes: [],
  thinking: false,
  timeoutMs: 1000,
  deadlineMs: 1e9,
  retry: { ...defaultPolicy.modelRetry, failingMs: 0, suspensions: 0, hasAlternative: false },
};

type Setting = {
  readonly instructions?: string | ((input: InstructionsInput) => string | Promise<string>);
  readonly tools?: boolean;
  readonly toolInstructions?: string;
  readonly start?: { readonly instructions?: string; readonly timeZone?: string };
};

function buildTestRequest(
  wanted: Partial<ModelEffect>,
  { instructions = "Be kind.", tools = true, start = {}, toolInstructions }: Setting = {},
) {
  const look = defineTool({
    ...{ name: "look", description: "Looks", input: { type: "object" } },
    ...(toolInstructions !== undefined && { instructions: toolInstructions }),
  });
  const model = scriptedModel([]);
  const agent = defineAgent({ name: "helper", model, instructions, tools: tools ? [look] : [] });
  const opening: Fact = {
    type: "run_start",
    input: [{ type: "user", content: "Hi" }],
    policy: defaultPolicy,
    timeZone: "UTC",
    ...start,
    runId: "r",
    sessionId: "ses",
    agent: "helper",
    turn: 0,
    seq: 1,
    at: 0,
    id: "r/run_start",
  };
  return buildRequest(
    { ...effect, ...wanted },
    {
      agents: indexAgents(agent),
      state: fold("ses", [opening]),
      clock: fakeClock({ start: Date.UTC(2026, 6, 1, 22, 30) }),
      context: { user: "Ada" },
      hooks: {},
      emit: () => undefined,
      resolveModel: () => scriptedModel([]),
      blobs: { put: async () => "blob_1", get: async () => undefined },
    },
  );
}

const specs = [{ name: "look", description: "Looks", input: { type: "object" } }];

describe("the model request", () => {
  it("has the instructions, the history, the tools with their schemas, and the tool choice (S0-26, S4-01)", async () => {
    expect(await buildTestRequest({})).toEqual({
      instructions: "Be kind.",
      history: [{ type: "user", content: "Hi" }],
      tools: specs,
      toolChoice: "auto",
      thinking: false,
    });
  });

  it.each([
    ["offered", specs, "auto"],
    ["required", specs, "required"],
    ["withdrawn", [], "none"],
    ["unavailable", [], "none"],
  ] as const)("has tools that are %s", async (tools, offered, toolChoice) => {
    expect(await buildTestRequest({ tools })).toMatchObject({ tools: offered, toolChoice });
  });

  it("requires no tool of an agent that has none", async () => {
    expect(await buildTestRequest({ tools: "required" }, { tools: false })).toMatchObject({
      tools: [],
      toolChoice: "none",
    });
  });

  it("has the notes of the turn after the instructions, and no blank lines for empty ones", async () => {
    const notes = ["Two turns are left.", "Wrap up."];
    expect((await buildTestRequest({ notes })).instructions).toBe(
      "Be kind.\n\nTwo turns are left.\n\nWrap up.",
    );
    expect((await buildTestRequest({ notes }, { instructions: "" })).instructions).toBe(
      "Two turns are left.\n\nWrap up.",
    );
  });

  it("has the instructions of the tools between the agent's and the notes, also with those of the input", async () => {
    const setting = { toolInstructions: "Look twice." };
    const { instructions } = await buildTestRequest({ notes: ["Wrap up."] }, setting);
    expect(instructions).toBe("Be kind.\n\nLook twice.\n\nWrap up.");
    const ofInput = await buildTestRequest({}, { ...setting, start: { instructions: "Be brief." } });
    expect(ofInput.instructions).toBe("Be brief.\n\nLook twice.");
  });

  it("uses the instructions of the input instead of the agent's own", async () => {
    expect((await buildTestRequest({}, { start: { instructions: "Be brief." } })).instructions).toBe(
      "Be brief.",
    );
  });

  it("builds the instructions from the turn, the tools, the context and the user's local time", async () => {
    let given: InstructionsInput | undefined;
    const instructions = async (input: InstructionsInput) => {
      given = input;
      return `Turn ${input.turn}`;
    };
    const sent = await buildTestRequest({}, { instructions, start: { timeZone: "Europe/Oslo" } });
    expect(sent.instructions).toBe("Turn 2");
    expect(given).toEqual({
      // The comma depends on the version of the locale data.
      now: expect.stringMatching(/^Thursday,? 2 July 2026 at 00:30 \(Europe\/Oslo\)$/),
      timeZone: "Europe/Oslo",
      turn: 2,
      maxTurns: 10,
      tools: specs,
      fragments: [],
      context: { user: "Ada" },
    });
  });

  it("fails with a named, non-retryable error when the instructions throw", async () => {
    const instructions = () => {
      throw new Error("no template");
    };
    await expect(buildTestRequest({}, { instructions })).rejects.toMatchObject({
      code: "instructions_failed",
      message: 'The instructions of "helper" threw: no template',
      retryable: false,
    });
  });
});
