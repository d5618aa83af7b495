import { describe, expect, it } from "vitest";

const listExports = (module: object) => Object.keys(module).sort();

describe("public exports", () => {
  it("of the package", async () => {
    expect(listExports(await import("./index.ts"))).toMatchInlineSnapshot(`
      [
        "AgentError",
        "agentTool",
        "assertFactTypes",
        "citationSection",
        "constraintsSection",
        "createApplicationEntry",
        "dateSection",
        "defaultPolicy",
        "defineAgent",
        "defineTool",
        "effortLevels",
        "errorCodes",
        "escapeInvisible",
        "formatMedia",
        "fromGenerate",
        "getAnswerText",
        "getCalls",
        "getMedia",
        "getStopReason",
        "getText",
        "hostedTools",
        "identitySection",
        "isContext",
        "isFact",
        "isModelError",
        "isRecord",
        "joinInstructions",
        "quarantine",
        "resume",
        "rulesSection",
        "run",
        "runSegment",
        "standardInstructions",
        "suggestName",
        "systemClock",
        "toCanonicalJson",
        "toPlainText",
        "toolsSection",
        "withErrorPrefix",
      ]
    `);
  });

  it("of the client entry point", async () => {
    expect(listExports(await import("./client/index.ts"))).toMatchInlineSnapshot(`
      [
        "buildView",
        "createClient",
        "describeRule",
        "describeScope",
        "emptyView",
        "filterEvent",
        "getReasoningSteps",
        "nextStage",
        "reasoningSteps",
        "reduce",
        "reduceAll",
        "restartsMessage",
        "stageOf",
        "streamView",
      ]
    `);
  });

  it("of the testing entry point (S2-60)", async () => {
    expect(listExports(await import("./testing/index.ts"))).toMatchInlineSnapshot(`
      [
        "collect",
        "fakeClock",
        "scriptedModel",
      ]
    `);
  });
});
