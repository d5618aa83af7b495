import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "@capstan/server";
import { run } from "capstan";
import { storedAgents } from "capstan/agents";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { knowledge } from "./agent.ts";
import { createLibrary } from "./library/library.ts";
import { fictionalMailbox } from "./mailbox.ts";
import { getStoredAgentOptions } from "./stored-agents.ts";

function createProject(): string {
  const root = mkdtempSync(join(tmpdir(), "knowledge-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, "docs"));
  mkdirSync(join(root, "node_modules", "kite"), { recursive: true });
  writeFileSync(join(root, "docs", "wind.md"), "# Wind\n\nHow this project measures wind.");
  writeFileSync(join(root, "node_modules", "kite", "README.md"), "# kite\n\nFlies in the wind.");
  return root;
}

describe("a user-defined agent", () => {
  it("has its own prompt, finds nothing outside its sources, and can hand off to the agents in code (S3-09, S3-54)", async () => {
    const library = createLibrary({ root: createProject(), indexFolder: false });
    const model = scriptedModel([
      { calls: [{ name: "search_knowledge_base", input: { query: "wind" } }] },
      { calls: [{ name: "get_document", input: { id: "kite" } }] },
      { text: "It measures wind [1]." },
    ]);
    const coded = await knowledge({ model, library });
    const agents = storedAgents({
      store: memory(),
      coded,
      models: [model],
      ...getStoredAgentOptions(library),
    });
    await agents.save(
      {
        format: 1,
        name: "clerk",
        description: "You answer questions about this project.",
        prompt: "Never speak of packages.",
        tools: ["search_knowledge_base", "get_document"],
        sources: ["project"],
        handoffs: ["research-agent"],
      },
      0,
    );
    const result = await run(await agents.agent("clerk"), "What about wind?");
    expect(result.toolCalls).toMatchObject([
      { status: "ok", result: expect.stringContaining('[{"id":"docs/wind.md#wind"') },
      { status: "error", result: expect.stringContaining('Document "kite" not found'), attempts: 1 },
    ]);
    expect(result.citations.map(({ id }) => id)).toEqual(["docs/wind.md#wind"]);
    expect(model.requests[0]?.instructions).toContain("Never speak of packages.");
    expect(model.requests[0]?.tools.map(({ name }) => name)).toContain("handoff");
  });

  it("shows a mailbox only to its owner, regardless of who created the agent or asks it (A84)", async () => {
    const library = createLibrary({ root: createProject(), indexFolder: false });
    const model = scriptedModel(({ history }) =>
      history.at(-1)?.type === "user"
        ? { calls: [{ name: "search_email", input: { query: "budget" } }] }
        : { text: "Done." },
    );
    const mailbox = { ...fictionalMailbox, owner: "ada" };
    const server = createServer({
      agents: await knowledge({ model, library, mailbox }),
      storedAgents: { models: [model], ...getStoredAgentOptions(library, mailbox) },
      store: memory(),
    });
    onTestFinished(() => server.close(0));
    const ask = async (user: string, method: string, path: string, body: object) => {
      const { secret } = await server.keys.create({ user, isAdmin: user === "root" });
      const headers = { "content-type": "application/json", authorization: `Bearer ${secret}` };
      const request = new Request(`http://127.0.0.1${path}`, {
        method,
        headers: { ...headers, host: "127.0.0.1" },
        body: JSON.stringify(body),
      });
      return (await server.fetch(request)).text();
    };
    const data = { format: 1, name: "clerk", description: "Mails", prompt: "Read.", tools: ["search_email"] };
    await ask("root", "PUT", "/api/agents/clerk", { data, expectedVersion: 0 });
    for (const agent of ["clerk", "knowledge"]) {
      const chat = { agent, messages: [{ role: "user", content: "Budget?" }] };
      expect(await ask("ada", "POST", "/api/chat", chat)).toContain("Ines Duarte");
      for (const other of ["bob", "root"]) {
        const answer = await ask(other, "POST", "/api/chat", chat);
        expect(answer).toContain("another user");
        expect(answer).not.toContain("Ines Duarte");
      }
    }
  });
});
