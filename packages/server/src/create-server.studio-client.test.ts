import { createClient } from "capstan/client";
import { afterEach, expect, it } from "vitest";
import { helloAgent } from "./testing/hello-agent.ts";
import { type TestServer, testServer } from "./testing/test-server.ts";

let server: TestServer | undefined;
afterEach(() => server?.close(0));

it("the client has a method for each thing that a studio shows", async () => {
  const made = testServer({ agents: [helloAgent()], models: ["openai/gpt-5-mini"] });
  server = made;
  const client = createClient({
    baseURL: "http://127.0.0.1",
    fetch: (url, { headers, ...init }) =>
      made.fetch(new Request(url, { ...init, headers: { ...(headers as object), host: "127.0.0.1" } })),
  });
  expect((await client.about()).agents).toEqual([{ name: "helper" }]);
  expect((await client.agentParts()).tools).toEqual([]);
  expect((await client.models.list()).find(({ isOffered }) => isOffered)?.model).toBe("openai/gpt-5-mini");
  expect(await client.mcp.list()).toEqual([]);
  expect(await client.mcp.refresh()).toEqual([]);
  await expect(client.mcp.trust("none")).rejects.toMatchObject({ code: "not_found" });

  const { runId, sessionId } = await client.runs.start({ input: "Hi" });
  for await (const _ of client.runs.events(runId));
  expect((await client.runs.turn(runId, 1, { wire: "openai-chat" })).body).toMatchObject({ stream: true });
  expect(await client.runs.messages(runId)).toHaveLength(2);
  const again = await client.runs.rerun(runId, { policy: { maxTurns: 1 } });
  for await (const _ of client.runs.events(again.runId));
  expect(await client.runs.difference(runId, again.runId)).toMatchObject({ isSame: true });
  expect((await client.sessions.get(sessionId)).forks).toMatchObject([{ sessionId: again.sessionId, at: 0 }]);
  expect((await client.sessions.get(again.sessionId)).origin).toEqual({ sessionId, at: 0 });
});
