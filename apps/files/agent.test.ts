import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { createServer, listen } from "@capstan/server";
import { type Agent, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { about, files, listModels, policy, studioPolicy } from "./agent.ts";
import { ensureSampleWorkspace } from "./workspace.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-files-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("the files app", () => {
  it("has an unbounded loop and leaves the history to the client (S1-03, S1-11, S1-26)", () => {
    expect(policy).toEqual({
      maxTurns: "unlimited",
      wrapUpAt: 0,
      finalTurn: "keep-tools",
      onLimit: ["best-effort"],
      toolExecution: "sequential",
      retry: { maxAttempts: 1 },
      onAllToolsFailed: "continue",
      maxToolResultSize: "unlimited",
      memory: "client",
      requireToolFirst: false,
      summaries: false,
    });
  });

  it("stops after 25 turns and remembers the session in the studio", () => {
    expect(studioPolicy).toEqual({ ...policy, maxTurns: 25, memory: "session" });
  });

  it("offers the file tools and undo; only reading needs no approval (S1-23)", async () => {
    const { tools, policy: agentPolicy } = await files({ model: scriptedModel([]), root: folder });
    expect(
      [...tools.values()].map(({ name, effects, needsApproval }) => [name, effects, !!needsApproval]),
    ).toEqual([
      ["read_file", "none", false],
      ["list_files", "none", false],
      ["search_files", "none", false],
      ["write_file", "state", true],
      ["edit_file", "state", true],
      ["undo_change", "state", true],
    ]);
    expect(agentPolicy).toBe(policy);
  });

  it("maps languages to file extensions for the offline model, and not in the schema that models read", async () => {
    const { tools } = await files({ model: scriptedModel([]), root: folder });
    const list = tools.get("list_files");
    const pythonExample = { phrase: "list all python files", input: { glob: "*.py" } };
    expect(list?.examples).toContainEqual(pythonExample);
    expect(list?.schema.json).not.toHaveProperty("examples");
    // The tool's own examples stay.
    expect(list?.examples).toContainEqual({ phrase: "list the files" });
  });

  it("suggests four prompts", () => {
    expect(about.suggestions).toHaveLength(4);
  });
});

describe("the workspace", () => {
  it("is a copy of the sample that keeps its changes", () => {
    const copy = ensureSampleWorkspace(folder);
    expect(readFileSync(join(copy, "example.py"), "utf8")).toContain("def greet(name):\n    config");
    writeFileSync(join(copy, "sample.txt"), "changed");
    expect(ensureSampleWorkspace(folder)).toBe(copy);
    expect(readFileSync(join(copy, "sample.txt"), "utf8")).toBe("changed");
  });

  it("is not copied over an existing folder", () => {
    mkdirSync(join(folder, "files-workspace"));
    expect(() => readFileSync(join(ensureSampleWorkspace(folder), "sample.txt"))).toThrow(/ENOENT/);
  });

  it("is copied atomically and readable only by the owner", () => {
    const home = join(folder, "data");
    expect(statSync(ensureSampleWorkspace(home)).mode & 0o777).toBe(0o700);
    expect(statSync(home).mode & 0o777).toBe(0o700);
    expect(readdirSync(home)).toEqual(["files-workspace"]);
  });
});

describe("the model of the files app", () => {
  afterEach(() => vi.unstubAllEnvs());

  /** A provider that refuses every key, and the models that it was asked for. */
  async function startProvider() {
    const models: unknown[] = [];
    const provider = createHttpServer((request, response) => {
      json(request).then((body) => {
        models.push(Reflect.get(Object(body), "model"));
        response.writeHead(401, { "content-type": "application/json" }).end("{}");
      });
    });
    await once(provider.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void provider.close());
    const { port } = provider.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}/v1`, models };
  }

  it("is gpt-4o with a key for OpenAI, also in the request (S1-01)", async () => {
    const { url, models } = await startProvider();
    vi.stubEnv("OPENAI_API_KEY", "key");
    vi.stubEnv("OPENAI_BASE_URL", url);
    vi.stubEnv("CAPSTAN_MODEL", "");
    const agent = await files({ root: folder });
    expect(agent.models.main).toEqual(["openai/gpt-4o"]);
    await run(agent, "Hi");
    expect(models).toEqual(["gpt-4o"]);
  });

  it("can be requested by that name, also when another one is the default (S1-01)", async () => {
    const { url, models } = await startProvider();
    const ask = async (agent: Agent, offered: readonly string[]) => {
      const server = await listen(createServer({ agents: [agent], models: offered }), { port: 0 });
      onTestFinished(() => server.close(0));
      const body = JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "Hi" }] });
      const headers = { "content-type": "application/json" };
      return (await fetch(`${server.url}/api/chat`, { method: "POST", headers, body })).text();
    };
    vi.stubEnv("OPENAI_API_KEY", "key");
    vi.stubEnv("OPENAI_BASE_URL", url);
    vi.stubEnv("CAPSTAN_MODEL", "");
    expect(await ask(await files({ root: folder }), [])).toContain("model_auth");
    vi.stubEnv("CAPSTAN_MODEL", "offline");
    const agent = await files({ root: folder });
    expect(await ask(agent, listModels())).toContain("model_auth");
    expect(models).toEqual(["gpt-4o", "gpt-4o"]);
    vi.stubEnv("OPENAI_API_KEY", "");
    expect(await ask(agent, listModels())).toContain("Unknown model");
  });

  it("is the one that CAPSTAN_MODEL names, even with a key (S1-01)", async () => {
    vi.stubEnv("OPENAI_API_KEY", "key");
    vi.stubEnv("CAPSTAN_MODEL", "offline");
    expect((await files({ root: folder })).models.main).toMatchObject([{ id: "offline/rules" }]);
  });
});
