import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findFreePort } from "@capstan/verification/find-free-port";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { defineAgent, type PolicyOverrides, type Run, type RunOptions, run, type Tool } from "capstan";
import { memory } from "capstan/stores/memory";
import { collect, type ScriptedStep, scriptedModel } from "capstan/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StdioConfig } from "./config/server-config.ts";
import { type McpTools, mcpTools } from "./mcp-tools.ts";
import { compileCache } from "./testing/test-servers.ts";

/** The program of an installed server. */
function findProgram(server: string): string {
  const file = createRequire(import.meta.url).resolve(`@modelcontextprotocol/${server}/package.json`);
  return join(dirname(file), "dist/index.js");
}

let folder = "";
let web: ChildProcess;
let webUrl = "";
let mcp: McpTools;
const servers: Record<string, StdioConfig> = {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "capstan-mcp-"));
  await writeFile(join(folder, "poem.txt"), "The sea, the sea.\n");
  const [everything, filesystem] = [findProgram("server-everything"), findProgram("server-filesystem")];
  const common = {
    command: process.execPath,
    effects: "none",
    trust: "metadata",
    startTimeout: 60_000,
  } as const;
  servers.everything = { ...common, args: [everything] };
  servers.filesystem = { ...common, args: [filesystem, folder] };
  const env = { ...compileCache, MEMORY_FILE_PATH: join(folder, "memory.jsonl") };
  servers.memory = { ...common, args: [findProgram("server-memory")], env };
  const port = await findFreePort();
  webUrl = `http://127.0.0.1:${port}/mcp`;
  web = spawn(process.execPath, [everything, "streamableHttp"], {
    env: { ...compileCache, PORT: String(port) },
    stdio: "pipe",
  });
  web.stdout?.resume();
  await once(web.stderr ?? web, "data"); // it says that it listens
  const remote = { type: "http", url: webUrl, effects: "none", trust: "metadata" } as const;
  mcp = await mcpTools({ mcpServers: { ...servers, web: remote } });
});

afterAll(async () => {
  await mcp?.close();
  web?.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

function runSteps(
  steps: readonly ScriptedStep[],
  options: RunOptions & { policy?: PolicyOverrides } = {},
): Run {
  const agent = defineAgent({ name: "helper", model: scriptedModel(steps), tools: mcp.tools });
  return run(agent, "Go.", options);
}

/** What a run makes of one call. */
async function callServerTool(name: string, input: Record<string, never> | object = {}) {
  const { facts, result } = await collect(
    runSteps([{ calls: [{ name, input: input as never }] }, { text: "Ready." }], {
      policy: { retry: { maxAttempts: 1 } },
    }),
  );
  expect(result).toMatchObject({ status: "done", text: "Ready." });
  const fact = facts.find(({ type }) => type === "tool_call_result");
  if (fact?.type !== "tool_call_result") throw new Error("There is no result.");
  return fact;
}

const getToolNames = (tools: readonly Tool[], server: string) =>
  tools.map(({ name }) => name).filter((name) => name.startsWith(`mcp_${server}_`));

describe.each(["everything", "filesystem", "memory", "web"])("the tools of the real server %s", (name) => {
  it("have its names and its schemas, as the official client lists them (S3-21, S4-01, S4-02, S4-42)", async () => {
    const client = new Client(
      { name: "official", version: "1" },
      { capabilities: { elicitation: { form: {}, url: {} } } },
    );
    const config = servers[name];
    await client.connect(
      config
        ? new StdioClientTransport({
            ...config,
            args: [...(config.args ?? [])],
            env: { ...config.env },
            stderr: "ignore",
          })
        : new StreamableHTTPClientTransport(new URL(webUrl)),
    );
    const { tools } = await client.listTools();
    await client.close();
    expect(tools.length).toBeGreaterThan(5);
    expect(getToolNames(mcp.tools, name)).toEqual(tools.map((tool) => `mcp_${name}_${tool.name}`));
    for (const tool of tools) {
      const ours = mcp.tools.find((one) => one.name === `mcp_${name}_${tool.name}`);
      expect(ours?.schema.json).toEqual(tool.inputSchema);
      expect(ours?.outputSchema?.json).toEqual(tool.outputSchema);
      expect(ours?.description).toBe(tool.description);
    }
  });

  it("are ready, without problems (S4-43)", () => {
    const status = mcp.status().find((one) => one.name === name);
    expect(status).toMatchObject({ state: "ready", restarts: 0, ignored: 0, problems: [], changed: [] });
    expect(status?.protocolVersion).toMatch(/^20\d\d-\d\d-\d\d$/);
  });
});

describe.each(["everything", "web"])("calls to the server %s (S4-43, S4-44, S4-45)", (server) => {
  const call = (tool: string, input: object = {}) => callServerTool(`mcp_${server}_${tool}`, input);

  it("give text", async () => {
    expect(await call("echo", { message: "grüße 🌊" })).toMatchObject({
      status: "ok",
      result: "Echo: grüße 🌊",
    });
  });

  it("give images", async () => {
    const { result } = await call("get-tiny-image");
    expect(result).toMatchObject([
      { type: "text", text: "Here's the image you requested:" },
      { type: "image", mediaType: "image/png", data: expect.stringMatching(/^iVBOR/) },
      { type: "text", text: "The image above is the MCP logo." },
    ]);
  });

  it("give structured content, once", async () => {
    const data = { temperature: 36, conditions: "Light rain / drizzle", humidity: 82 };
    const fact = await call("get-structured-content", { location: "Chicago" });
    expect(fact).toMatchObject({ status: "ok", data, result: JSON.stringify(data) });
  });

  it("name links to resources and do not follow them (A53)", async () => {
    const { result } = await call("get-resource-links", { count: 2 });
    expect(String(result).split("\n")).toEqual([
      "Here are 2 resource links to resources available in this server:",
      expect.stringMatching(/^\[link to \S+\/1 \(Blob Resource 1: .*\)\]$/),
      expect.stringMatching(/^\[link to \S+\/2 \(Text Resource 2: .*\)\]$/),
    ]);
  });

  it("give embedded resources, as text or as a file", async () => {
    const text = await call("get-resource-reference", { resourceType: "Text", resourceId: 1 });
    expect(text.result).toMatch(/\[\S+\/1\]\nResource 1: /);
    const blob = await call("get-resource-reference", { resourceType: "Blob", resourceId: 1 });
    expect(blob.result).toContainEqual({ type: "file", mediaType: "text/plain", data: expect.any(String) });
  });

  it("fail with the server's words", async () => {
    const fact = await call("get-resource-reference", { resourceType: "Text", resourceId: -1 });
    expect(fact).toMatchObject({ status: "error", is_error: true, error: { code: "tool_failed" } });
    expect(fact.result).toContain("Invalid resourceId: -1");
  });

  it("do not reach the server with arguments that its schema does not allow", async () => {
    expect(await call("get-sum", { a: "one", b: 2 })).toMatchObject({ error: { code: "bad_arguments" } });
  });

  it("show progress while they run (S4-43)", async () => {
    const input = { duration: 0.2, steps: 4 };
    const name = `mcp_${server}_trigger-long-running-operation`;
    const { events, result } = await collect(runSteps([{ calls: [{ name, input }] }, { text: "Ready." }]));
    const progress = events.flatMap((event) => (event.type === "tool_progress" ? [event.data] : []));
    // The last one comes together with the result, and the SDK may then have stopped listening.
    expect(progress.slice(0, 3)).toEqual([1, 2, 3].map((step) => ({ progress: step, total: 4 })));
    expect(result.text).toBe("Ready.");
  });

  it("end when the run is cancelled, and the server continues with other calls (S4-47)", async () => {
    const input = { duration: 60, steps: 600 };
    const running = runSteps([{ calls: [{ name: `mcp_${server}_trigger-long-running-operation`, input }] }]);
    for await (const event of running) if (event.type === "tool_progress") running.cancel("Enough.");
    const result = await running;
    expect(result).toMatchObject({ status: "cancelled" });
    expect(result.toolCalls).toMatchObject([{ status: "interrupted" }]);
    expect(await call("echo", { message: "still here" })).toMatchObject({ result: "Echo: still here" });
  });

  it("that take too long end with a named error (S4-47)", async () => {
    const name = `mcp_${server}_trigger-long-running-operation`;
    const steps = [{ calls: [{ name, input: { duration: 60, steps: 1 } }] }, { text: "Too slow." }];
    const policy = { toolTimeoutMs: 200, retry: { maxAttempts: 1 } };
    const { facts, result } = await collect(runSteps(steps, { policy }));
    const code = facts.map((fact) => (fact.type === "tool_call_result" ? fact.error?.code : undefined));
    expect(code).toContain("tool_timeout");
    expect(result.text).toBe("Too slow.");
  });
});

describe("an agent with real servers", () => {
  it("works with files and remembers across runs of a session (M1, S4-55)", async () => {
    const path = join(folder, "copy.txt");
    const model = scriptedModel([
      { calls: [{ name: "mcp_filesystem_read_text_file", input: { path: join(folder, "poem.txt") } }] },
      { calls: [{ name: "mcp_filesystem_write_file", input: { path, content: "The sea." } }] },
      { text: "Copied." },
      { text: "It is about the sea." },
    ]);
    const agent = defineAgent({ name: "librarian", model, tools: () => mcp.tools });
    const kept = { store: memory(), session: "s" };
    const copying = run(agent, "Copy the poem.", kept);
    const [asked] = (await copying).pending;
    expect(asked?.reason).toBe('The server marks "write_file" as destructive.');
    expect(await copying.approve(asked?.callId ?? "")).toMatchObject({ status: "done", text: "Copied." });
    expect(await readFile(path, "utf8")).toBe("The sea.");
    expect(await run(agent, "What is it about?", kept)).toMatchObject({ text: "It is about the sea." });
    const seen = JSON.stringify(model.requests.at(-1)?.history);
    expect(seen).toContain("The sea, the sea.");
    expect(seen).toContain("Copy the poem.");
  });

  it("receives the server's refusal, and continues", async () => {
    const fact = await callServerTool("mcp_filesystem_read_text_file", {
      path: join(folder, "..", "other.txt"),
    });
    expect(fact).toMatchObject({ status: "error", error: { code: "tool_failed" } });
    expect(fact.result).toContain("Access denied");
  });

  it("gets structured results that are valid by the server's schema", async () => {
    const entities = [{ name: "Oslo", entityType: "city", observations: ["rainy"] }];
    expect(await callServerTool("mcp_memory_create_entities", { entities })).toMatchObject({
      status: "ok",
      data: { entities },
    });
    const { data } = await callServerTool("mcp_memory_search_nodes", { query: "rainy" });
    expect(data).toEqual({ entities, relations: [] });
  });

  it("answers from knowledge in one turn when there are no tools (M9, S4-57)", async () => {
    const none = await mcpTools({ mcpServers: {} });
    const agent = defineAgent({
      name: "plain",
      model: scriptedModel([{ text: "Paris." }]),
      tools: none.tools,
    });
    const result = await run(agent, "The capital of France?");
    expect(result).toMatchObject({ status: "done", text: "Paris.", turns: 1, toolCalls: [] });
    await none.close();
  });

  it("gets only the environment that is listed (A48)", async () => {
    process.env.CAPSTAN_TEST_KEY = "s3cret";
    const { result } = await callServerTool("mcp_everything_get-env");
    delete process.env.CAPSTAN_TEST_KEY;
    const known = ["AI_AGENT", "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
    expect(Object.keys(JSON.parse(String(result))).filter((name) => !known.includes(name))).toEqual([]);
  });
});

describe("in addition to its tools a server has", () => {
  it("resources that an application can read", async () => {
    const resources = await mcp.resources("everything");
    const { uri = "" } = resources[0] ?? {};
    const { contents } = await mcp.readResource("everything", uri);
    expect(contents[0]).toMatchObject({ uri, text: expect.any(String) });
    await expect(mcp.readResource("everything", "demo://nothing")).rejects.toMatchObject({
      code: "tool_failed",
    });
  });

  it("prompts that an application can get", async () => {
    expect((await mcp.prompts("web")).map(({ name }) => name)).toContain("args-prompt");
    const { messages } = await mcp.getPrompt("web", "args-prompt", { city: "Oslo" });
    expect(messages[0]?.content).toMatchObject({ type: "text", text: expect.stringContaining("Oslo") });
  });

  it("neither if its name is unknown: the error lists the known servers", async () => {
    const message =
      'Unknown MCP server "evrything". Known servers: "everything", "filesystem", "memory", "web".';
    await expect(mcp.resources("evrything")).rejects.toMatchObject({ code: "mcp_config", message });
  });
});
