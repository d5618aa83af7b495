import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createScratchProject, type ScratchProject, startCli } from "../testing/cli-process.ts";

const canary = "quetzal7c1f09";

/** An agent that repeats the canary in its reasoning, in a call, in a result and in its answer. */
const createConfig = (settings: string) => `
import { defineConfig } from "@capstan/cli";
import { defineAgent, defineTool } from "capstan";
import { scriptedModel } from "capstan/testing";
// In two parts: the text of a trusted config is in the data folder.
const canary = "quetzal" + "7c1f09";
const note = defineTool({
  name: "note",
  description: "Notes a word",
  input: { type: "object", properties: { word: { type: "string" } } },
  effects: "none",
  execute: ({ word }) => "Noted " + word,
});
const slow = defineTool({
  name: "slow",
  description: "Waits until it is stopped",
  input: { type: "object" },
  effects: "none",
  execute: (_, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve("Stopped at " + canary))),
});
const model = scriptedModel(({ history }) => {
  if (history.at(-1).type === "result") return { reasoning: "So " + canary, text: "It is " + canary };
  return JSON.stringify(history).includes("slowly")
    ? { reasoning: "Wait for " + canary, calls: [{ name: "slow", input: { word: canary } }] }
    : { reasoning: "Hm, " + canary, calls: [{ name: "note", input: { word: canary } }] };
});
export default defineConfig({ agents: [defineAgent({ name: "parrot", model, tools: [note, slow] })], ${settings} });
`;

type Serving = {
  readonly data: string;
  ask(path: string, body?: object, method?: string): Promise<Response>;
};

async function serve(settings: string, command: readonly string[] = ["serve"]): Promise<Serving> {
  const project = createScratchProject({ "capstan.config.ts": createConfig(settings) });
  return serveProject(project, command);
}

async function serveProject(project: ScratchProject, command: readonly string[]): Promise<Serving> {
  const cli = startCli([...command, "--port", "0", "--trust"], project);
  onTestFinished(async () => {
    cli.child.kill("SIGKILL");
    await cli.exit;
    project.remove();
  });
  const [, url] = await cli.waitForOutput(/listens on (http:\/\/\S+)\n[\s\S]*Ctrl-C/);
  return {
    data: join(project.folder, ".data"),
    ask: (path, body, method = body ? "POST" : "GET") =>
      fetch(`${url}${path}`, {
        method,
        ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
      }),
  };
}

/** Returns the session of a new run. */
async function startRun({ ask }: Serving, input: string): Promise<string> {
  const response = await ask("/api/runs", { input });
  expect(response.status).toBe(201);
  return (await response.json()).sessionId;
}

/** Returns the session of a run that has ended. */
async function converse(server: Serving, input: string): Promise<string> {
  const session = await startRun(server, input);
  const loadRuns = async () => (await (await server.ask(`/api/sessions/${session}`)).json()).runs;
  await expect.poll(loadRuns).toMatchObject([{ status: "done" }]);
  return session;
}

const deleteSession = async ({ ask }: Serving, session: string): Promise<void> =>
  expect((await ask(`/api/sessions/${session}`, undefined, "DELETE")).status).toBe(204);

const listLogs = ({ data }: Serving): string[] =>
  existsSync(join(data, "logs")) ? readdirSync(join(data, "logs")) : [];

/** Returns the files below the folder that contain the canary. */
function findCanary(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return paths.filter((path) => {
    const file = join(folder, path);
    return statSync(file).isFile() && readFileSync(file).includes(canary);
  });
}

describe("a deleted session", () => {
  it("leaves none of its words in the data folder: logs, database, index and write-ahead log", async () => {
    const server = await serve("logs: {}");
    const [other, session] = [await converse(server, "Say hello"), await converse(server, `Say ${canary}`)];
    const folder = join(server.data, "logs", session);
    const files = ["events.jsonl", "readable.log", "reasoning.log"];
    await expect.poll(() => readdirSync(folder).sort()).toEqual(files);
    expect(findCanary(server.data)).toContain(`logs/${session}/events.jsonl`);
    await deleteSession(server, other);
    await deleteSession(server, session);
    expect(findCanary(server.data)).toEqual([]);
    expect(listLogs(server)).toEqual([]);
  });

  it("is not logged again by the run that its deletion stops", async () => {
    const server = await serve("logs: { deltas: true }");
    const session = await startRun(server, `Say ${canary} slowly`);
    const file = join(server.data, "logs", session, "events.jsonl");
    await expect.poll(() => readFileSync(file, "utf8")).toContain("tool_call_start");
    await deleteSession(server, session);
    // Its log is written after everything that the deleted session still had to write.
    const later = await converse(server, "Say hello");
    await expect.poll(() => listLogs(server)).toContain(later);
    expect(listLogs(server)).toEqual([later]);
  });

  it("is deleted with its logs by retention, also if the server itself writes none", async () => {
    const project = createScratchProject({ "capstan.config.ts": createConfig("logs: {}") });
    const first = await serveProject(project, ["serve"]);
    await converse(first, `Say ${canary}`);
    await expect.poll(() => findCanary(join(first.data, "logs"))).not.toEqual([]);
    project.write("capstan.config.ts", createConfig("server: { retention: { maxBytes: 100 } }"));
    const second = await serveProject(project, ["serve"]);
    await expect.poll(() => findCanary(second.data)).toEqual([]);
    expect(listLogs(second)).toEqual([]);
  });
});

describe("log files", () => {
  it.each([
    "/v1/chat/completions",
    "/v1/messages",
    "/v1/responses",
  ])("are not written for %s, which stores nothing", async (path) => {
    const server = await serve("logs: {}");
    const message = { role: "user", content: `Say ${canary}` };
    const body = { model: "parrot", store: false, max_tokens: 100 };
    const given = path === "/v1/responses" ? { input: message.content } : { messages: [message] };
    const response = await server.ask(path, { ...body, ...given });
    expect(await response.text()).toContain(canary);
    const later = await converse(server, "Say hello");
    await expect.poll(() => listLogs(server)).toContain(later);
    expect(listLogs(server)).toEqual([later]);
  });

  it.each([
    { command: ["serve"], settings: "", count: 0 },
    { command: ["serve"], settings: "logs: true", count: 1 },
    { command: ["dev", "--no-open"], settings: "", count: 1 },
    { command: ["dev", "--no-open"], settings: "logs: false", count: 0 },
  ])("of $command with { $settings } are in $count folders (S4-51, C-29)", async (given) => {
    const server = await serve(given.settings, given.command);
    await converse(server, "Say hello");
    await expect.poll(() => listLogs(server)).toHaveLength(given.count);
  });
});
