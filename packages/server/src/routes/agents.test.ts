import { defineAgent, defineTool } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

let server: TestServer;
afterEach(() => server.close(0));

const tools = [
  defineTool({
    ...{
      name: "look",
      description: "Looks",
      input: { type: "object" },
      effects: "none",
      reads: ["untrusted"],
      examples: [{ phrase: "look at {place}" }],
    },
    execute: () => "seen",
  }),
  defineTool({
    ...{ name: "pay", description: "Pays", input: { type: "object" }, effects: "send", needsApproval: true },
    execute: () => "paid",
  }),
  defineTool({ name: "move", description: "Moves the map", input: { type: "object" } }),
];

function serve(): TestServer {
  const model = scriptedModel([], { id: "scripted/one" });
  const other = defineAgent({ name: "other", model });
  const helper = defineAgent({
    name: "helper",
    model,
    instructions: () => "canary-instructions",
    tools,
    handoffs: [other],
  });
  server = createTestServer({
    agents: [helper, other],
    storedAgents: { tools, models: [model] },
    secrets: ["canary-secret"],
  });
  return server;
}

const note = { format: 1, name: "note", description: "Takes notes", prompt: "Be brief.", tools: ["look"] };
const put = (body: object, headers = {}) => server.send("PUT", "/api/agents/note", body, headers);

describe("agents over HTTP", () => {
  it("are shown with their skills, without the folders", async () => {
    const provenance = "operator" as const;
    const skill = { name: "notes", description: "Writes notes.", provenance, folder: "/canary-folder" };
    const [look] = tools;
    if (!look) throw new Error("no tool");
    const model = scriptedModel([]);
    const writer = defineAgent({ name: "writer", model, tools: [{ ...look, skills: [skill] }] });
    server = createTestServer({ agents: [writer] });
    const answer = await (await server.send("GET", "/api/agents/writer")).text();
    expect(JSON.parse(answer).skills).toEqual([{ name: "notes", description: "Writes notes.", provenance }]);
    expect(answer).not.toContain("canary");
  });

  it("are shown with their abilities, and without their definition", async () => {
    const { send } = serve();
    const answer = await (await send("GET", "/api/agents")).text();
    expect(JSON.parse(answer).agents).toEqual([
      {
        name: "helper",
        source: "coded",
        models: ["scripted/one"],
        tools: [
          {
            ...{ name: "look", description: "Looks", effects: "none", reads: ["untrusted"] },
            examples: ["look at {place}"],
            ...{ needsApproval: false, isClientSide: false },
          },
          { name: "pay", description: "Pays", effects: "send", needsApproval: true, isClientSide: false },
          { name: "move", description: "Moves the map", needsApproval: false, isClientSide: true },
        ],
        handoffs: ["other"],
      },
      { name: "other", source: "coded", models: ["scripted/one"], tools: [], handoffs: [] },
    ]);
    expect(answer).not.toContain("canary");
    expect((await send("GET", "/api/agents/nobody")).status).toBe(404);
  });

  it("are stored in versions, and a version that the author has not seen is not overwritten", async () => {
    const { send } = serve();
    const saved = await put({ data: note, expectedVersion: 0 });
    expect(await saved.json()).toMatchObject({ name: "note", source: "user", version: 1, data: note });
    expect((await put({ data: note, expectedVersion: 0 })).status).toBe(409);
    await put({ data: { ...note, prompt: "Be long." }, expectedVersion: 1 });
    const first = await (await send("GET", "/api/agents/note?version=1")).json();
    expect(first).toMatchObject({ version: 1, data: { prompt: "Be brief." }, tools: [{ name: "look" }] });
    expect((await send("DELETE", "/api/agents/note?expectedVersion=1")).status).toBe(409);
    expect((await send("DELETE", "/api/agents/note?expectedVersion=2")).status).toBe(204);
    expect((await send("GET", "/api/agents/note")).status).toBe(404);
  });

  it("are removed by version; the error names a missing version (A115)", async () => {
    const { send } = serve();
    await put({ data: note, expectedVersion: 0 });
    const readProblem = async (query: string) => {
      const answer = await send("DELETE", `/api/agents/note${query}`);
      return [answer.status, (await answer.json()).error.message];
    };
    expect(await readProblem("")).toEqual([400, "Invalid query at expectedVersion: is required."]);
    expect(await readProblem("?expectedVersion=x")).toEqual([
      400,
      "Invalid query at expectedVersion: must be a number.",
    ]);
  });

  it.each([
    ["another name", { ...note, name: "other-note" }, "data.name"],
    ["a tool that is not offered", { ...note, tools: ["shell"] }, "shell"],
    ["code", { ...note, execute: "rm" }, "execute"],
    ["a base URL", { ...note, baseUrl: "http://evil.test" }, "baseUrl"],
    ["the name of one in code", { ...note, name: "helper" }, "helper"],
  ])("are refused with %s (A87)", async (_, data, named) => {
    const { send } = serve();
    const path = named === "helper" ? "/api/agents/helper" : "/api/agents/note";
    const answer = await send("PUT", path, { data, expectedVersion: 0 });
    expect(answer.status).toBe(400);
    expect((await answer.json()).error.message).toContain(named);
  });

  it("can be changed only by admins; other users see their purpose, not their definition (A84)", async () => {
    const { keys, send } = serve();
    const { secret: admin } = await keys.create({ user: "root", isAdmin: true });
    const { secret } = await keys.create({ user: "ada" });
    const asAda = { authorization: `Bearer ${secret}` };
    expect((await put({ data: note, expectedVersion: 0 }, asAda)).status).toBe(403);
    expect((await put({ data: note, expectedVersion: 0 }, { authorization: `Bearer ${admin}` })).status).toBe(
      200,
    );
    const seen = await (await send("GET", "/api/agents/note", undefined, asAda)).json();
    expect(seen).toMatchObject({ name: "note", description: "Takes notes", version: 1 });
    expect(seen.data).toBeUndefined();
    const removed = await send("DELETE", "/api/agents/note?expectedVersion=1", undefined, asAda);
    expect(removed.status).toBe(403);
  });

  it("have versions: stored when saved or used, with their number, and restored as the next one", async () => {
    const { send } = serve();
    await put({ data: note, expectedVersion: 0 });
    await put({ data: { ...note, prompt: "Be thorough." }, expectedVersion: 1 });
    const list = async (name: string) =>
      (await (await send("GET", `/api/agents/${name}/versions`)).json()).versions;
    const [second, first] = await list("note");
    expect([first, second]).toMatchObject([
      { number: 1, isCurrent: false, definition: { instructions: expect.stringContaining("Be brief.") } },
      { number: 2, isCurrent: true, definition: { tools: [{ name: "look" }], policy: expect.anything() } },
    ]);
    const restored = await send("POST", "/api/agents/note/restore", { version: 1, expectedVersion: 2 });
    expect(await restored.json()).toMatchObject({ version: 3, data: { prompt: "Be brief." } });
    expect(await list("note")).toMatchObject([
      { version: first.version, number: 3, isCurrent: true },
      { version: second.version, number: 2, isCurrent: false },
    ]);
    const stale = await send("POST", "/api/agents/note/restore", { version: 1, expectedVersion: 2 });
    expect(stale.status).toBe(409);
    const missing = await send("POST", "/api/agents/note/restore", { version: 9, expectedVersion: 3 });
    expect([missing.status, await missing.text()]).toEqual([404, expect.stringContaining("no version 9")]);
    const coded = await send("POST", "/api/agents/other/restore", { version: 1, expectedVersion: 1 });
    expect([coded.status, await coded.text()]).toEqual([400, expect.stringContaining("in its code")]);
    await send("DELETE", "/api/agents/note?expectedVersion=3");
    expect((await send("GET", "/api/agents/note/versions")).status).toBe(404);
    await put({ data: note, expectedVersion: 0 });
    expect(await list("note")).toHaveLength(1);
  });

  it("in code have a version per deploy, which their runs name; users see it without the definition (A84)", async () => {
    const store = memory();
    const deploy = (instructions: string) => {
      const model = scriptedModel([{ text: "Hello." }]);
      server = createTestServer({ agents: [defineAgent({ name: "coded", model, instructions })], store });
      return server;
    };
    const versions: string[] = [];
    let asAdmin = {};
    for (const instructions of ["Be brief.", "Be thorough."]) {
      const { send, keys } = deploy(instructions);
      const { secret: admin } = await keys.create({ user: "root", isAdmin: true });
      const { secret } = await keys.create({ user: "ada" });
      asAdmin = { authorization: `Bearer ${admin}` };
      const { sessionId } = await (await send("POST", "/api/runs", { input: "Hi" }, asAdmin)).json();
      const [start] = await store.read(sessionId);
      if (start?.type === "run_start") versions.unshift(start.agentVersion ?? "");
      const asAda = { authorization: `Bearer ${secret}` };
      const text = await (await send("GET", "/api/agents/coded/versions", undefined, asAda)).text();
      expect(JSON.parse(text).versions.map(({ version }: { version: string }) => version)).toEqual(versions);
      expect(text).not.toContain(instructions);
      await server.close(0);
    }
    const { send } = deploy("Be thorough.");
    expect(
      (await (await send("GET", "/api/agents/coded/versions", undefined, asAdmin)).json()).versions,
    ).toMatchObject([
      { version: versions[0], isCurrent: true, definition: { instructions: "Be thorough." } },
      { version: versions[1], isCurrent: false, definition: { instructions: "Be brief." } },
    ]);
  });
});
