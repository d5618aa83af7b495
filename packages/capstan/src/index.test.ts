import { describe, expect, it } from "vitest";

const namesIn = (module: object) => Object.keys(module).sort();

describe("public exports", () => {
  it("of the package", async () => {
    expect(namesIn(await import("./index.ts"))).toMatchInlineSnapshot(`
      [
        "AgentError",
        "agentTool",
        "citationSection",
        "constraintsSection",
        "contextSection",
        "dateSection",
        "defaultPolicy",
        "defineAgent",
        "defineTool",
        "errorCodes",
        "errorText",
        "fromGenerate",
        "identitySection",
        "instructionsOf",
        "isFact",
        "nearest",
        "plainText",
        "quarantine",
        "resume",
        "rulesSection",
        "run",
        "standardInstructions",
        "systemClock",
        "textOf",
        "toolsSection",
        "visible",
      ]
    `);
  });

  it("of the client entry point", async () => {
    expect(namesIn(await import("./client/index.ts"))).toMatchInlineSnapshot(`
      [
        "createClient",
        "emptyView",
        "nextStage",
        "reasoningSteps",
        "reduce",
        "reduceAll",
        "stageOf",
        "stepsOf",
        "streamView",
        "viewOf",
        "viewedAs",
      ]
    `);
  });

  it("of the testing entry point (S2-60)", async () => {
    expect(namesIn(await import("./testing/index.ts"))).toMatchInlineSnapshot(`
      [
        "collect",
        "fakeClock",
        "scriptedModel",
      ]
    `);
  });
});
