import { defineAgent, defineTool } from "capstan";
import { scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

const look = defineTool({
  ...{ name: "look", description: "Looks", input: { at: { type: "string" } }, effects: "none" },
  execute: ({ at }) => `Saw ${at}`,
});
const model = scriptedModel(({ history, tools }) =>
  tools.length === 0 || history.filter(({ type }) => type === "result").length > 2
    ? { text: "It is there." }
    : { calls: [{ id: `c${history.length}`, name: "look", input: { at: `place ${history.length}` } }] },
);

let server: TestServer;
beforeEach(() => {
  server = createTestServer({
    secrets: ["canary-of-the-company"],
    agents: [
      defineAgent({ name: "helper", model, tools: [look], instructions: "Be brief." }),
      defineAgent({
        ...{ name: "dated", model, tools: () => [look] },
        instructions: ({ now }) => `It is ${now}. canary-of-the-company`,
      }),
    ],
  });
});
afterEach(() => server.close(0));

const get = async (path: string) => (await server.send("GET", path)).json();

async function runToEnd(body: object): Promise<{ runId: string; sessionId: string }> {
  const started = await (await server.send("POST", "/api/runs", body)).json();
  for (;;) {
    if ((await get(`/api/runs/${started.runId}`)).state === "ended") return started;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

describe("the request of a turn", () => {
  it("is the request that the model received, turn by turn (S0-46)", async () => {
    const before = model.requests.length;
    const { runId } = await runToEnd({ input: "Where is it?" });
    const requests = model.requests.slice(before);
    expect(requests).toHaveLength(4);
    for (const [index, request] of requests.entries()) {
      const sent = await get(`/api/runs/${runId}/turns/${index + 1}`);
      expect(sent.history).toEqual(JSON.parse(JSON.stringify(request.history)));
      expect(sent.tools).toEqual(request.tools);
      expect(sent).toMatchObject({ discovered: [], deferred: 0 });
      expect([sent.instructions, ...sent.notes].join("\n\n")).toBe(request.instructions);
      expect(sent).toMatchObject({ turn: index + 1, agent: "helper", toolChoice: "auto", model: "scripted" });
      expect(sent.instructionsAreRebuilt).toBe(false);
    }
  });

  it("has the note that few turns are left apart from the instructions", async () => {
    const { runId } = await runToEnd({ input: "Where is it?", policy: { maxTurns: 3 } });
    const sent = await get(`/api/runs/${runId}/turns/2`);
    expect(sent.instructions).toBe("Be brief.");
    expect(sent.notes.join()).toMatch(/turn|step/i);
    expect((await get(`/api/runs/${runId}/turns/3`)).tools).toEqual([]);
  });

  it("reports rebuilt instructions and tools, at the time of the turn and without secrets", async () => {
    const { runId } = await runToEnd({ input: "Where is it?", agent: "dated" });
    const sent = await get(`/api/runs/${runId}/turns/1`);
    expect(sent).toMatchObject({ instructionsAreRebuilt: true, toolsAreRebuilt: true });
    expect(sent.instructions).toMatch(/^It is \w+.* \d{4} at .* \*\*\*$/);
    expect(sent.tools).toMatchObject([{ name: "look" }]);
  });

  it.each([
    ["openai-chat", "messages"],
    ["openai-responses", "input"],
    ["anthropic", "messages"],
    ["gemini", "contents"],
  ])("is written as %s is", async (wire, field) => {
    const { runId } = await runToEnd({ input: "Where is it?" });
    const { body } = await get(`/api/runs/${runId}/turns/2?wire=${wire}`);
    expect(JSON.stringify(body)).toContain("Be brief.");
    expect(JSON.stringify(body[field])).toContain("Saw place 1");
    expect(JSON.stringify(body.tools)).toContain("look");
    const { messages } = await get(`/api/runs/${runId}/messages?wire=${wire}`);
    expect(JSON.stringify(messages)).toContain("It is there.");
    expect(JSON.stringify(messages)).not.toContain("Be brief.");
  });

  it("is not found for a missing turn, and refused for an unknown format", async () => {
    const { runId } = await runToEnd({ input: "Where is it?" });
    expect((await server.send("GET", `/api/runs/${runId}/turns/9`)).status).toBe(404);
    expect((await server.send("GET", `/api/runs/${runId}/turns/1?wire=morse`)).status).toBe(400);
  });

  it("of an earlier run of a session knows nothing of later ones", async () => {
    const { runId, sessionId } = await runToEnd({ input: "Where is it?" });
    await runToEnd({ input: "And the other one?", sessionId });
    expect(JSON.stringify(await get(`/api/runs/${runId}/messages`))).not.toContain("the other one");
    expect((await get(`/api/runs/${runId}/turns/1`)).history).toHaveLength(1);
  });
});
