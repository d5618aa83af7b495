import { defineAgent, defineTool } from "capstan";
import { scriptedModel } from "capstan/testing";
import { afterEach, expect, it } from "vitest";
import { createHelloAgent } from "./testing/hello-agent.ts";
import { createTestServer, type TestServer } from "./testing/test-server.ts";

let server: TestServer;
afterEach(() => server.close(0));

const stuck = defineTool({
  ...{ name: "stuck", description: "Never ends", input: {}, effects: "none" },
  execute: (_input, { signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
});
const screen = defineTool({ name: "screen", description: "Runs at the client", input: {} });

async function startAgentRun(agent: string): Promise<string> {
  const answer = await server.send("POST", "/api/runs", { input: "Go", agent });
  return (await answer.json()).runId;
}

const readState = async (runId: string) =>
  (await (await server.send("GET", `/api/runs/${runId}`)).json()).state;

it("while models, tools and clients are pending, all other work continues (S1-21)", async () => {
  const silent = scriptedModel(() => ({ text: "Well", hang: true }));
  const calling = (name: string) => scriptedModel(() => ({ calls: [{ name }] }));
  server = createTestServer({
    agents: [
      createHelloAgent(),
      defineAgent({ name: "silent", model: silent }),
      defineAgent({ name: "stuck", model: calling("stuck"), tools: [stuck] }),
      defineAgent({ name: "screen", model: calling("screen"), tools: [screen] }),
    ],
  });
  const waiting: string[] = [];
  for (const agent of ["silent", "stuck", "screen"])
    for (let count = 0; count < 10; count++) waiting.push(await startAgentRun(agent));
  // Each run also has a reader that never reads.
  const streams = await Promise.all(waiting.map((runId) => server.send("GET", `/api/runs/${runId}/events`)));
  for (let count = 0; count < 10; count++) {
    const runId = await startAgentRun("helper");
    const said = await (await server.send("GET", `/api/runs/${runId}/events`)).text();
    expect(said).toContain("event: done");
    expect((await server.send("GET", "/api/health")).status).toBe(200);
  }
  const states = await Promise.all(waiting.map(readState));
  expect(states.slice(0, 20)).toEqual(Array(20).fill("active"));
  expect(states).not.toContain("ended");
  await Promise.all(streams.map((stream) => stream?.body?.cancel()));
});
