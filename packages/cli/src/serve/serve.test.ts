import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  type CliProcess,
  createScratchProject,
  type ScratchProject,
  startCli,
} from "../testing/cli-process.ts";

/** An agent whose tool takes until it is stopped. */
const slowConfig = `
import { defineConfig } from "@capstan/cli";
import { defineAgent, defineTool } from "capstan";
import { scriptedModel } from "capstan/testing";
const wait = defineTool({
  name: "wait",
  description: "Waits",
  input: { type: "object", properties: {} },
  effects: "none",
  execute: () => new Promise((resolve) => setTimeout(resolve, 60_000)),
});
const model = scriptedModel(() => ({ calls: [{ name: "wait", input: {} }] }));
export default defineConfig({ agents: [defineAgent({ name: "slow", model, tools: [wait] })] });
`;

const started: CliProcess[] = [];
const projects: ScratchProject[] = [];
function project(files?: Readonly<Record<string, string>>): ScratchProject {
  const made = createScratchProject(files);
  projects.push(made);
  return made;
}
function start(words: readonly string[], at: Pick<ScratchProject, "folder" | "env">): CliProcess {
  const made = startCli(words, at);
  started.push(made);
  return made;
}
afterEach(async () => {
  for (const { child, exit } of started.splice(0)) {
    child.kill("SIGKILL");
    await exit;
  }
  for (const made of projects.splice(0)) made.remove();
});

async function until(reader: ReadableStreamDefaultReader<Uint8Array>, what: string): Promise<void> {
  let text = "";
  while (!text.includes(what)) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`The stream ended without ${what}: ${text}`);
    text += Buffer.from(value).toString();
  }
}

const urlOf = async (cli: CliProcess) =>
  (await cli.waitForOutput(/listens on (http:\/\/\S+)\n[\s\S]*Ctrl-C/))[1] ?? "";

describe("capstan serve", () => {
  it("prints its agents and address, answers, and exits with 0 on SIGTERM (F82)", async () => {
    const cli = start(["serve", "--port", "0"], project());
    const url = await urlOf(cli);
    expect(cli.stdout()).toMatch(
      /agents +assistant\n +model +offline[\s\S]*database +\S+\n[\s\S]*openapi\.json[\s\S]*\/v1\n[\s\S]*\/mcp\n/,
    );
    expect(await (await fetch(`${url}/api/health`)).json()).toMatchObject({ status: "ok" });
    cli.child.kill("SIGTERM");
    expect(await cli.exit).toBe(0);
  });

  it("gives active runs time to finish on SIGTERM, and exits immediately on a second one (F82)", async () => {
    const cli = start(["serve", "--port", "0", "--trust"], project({ "capstan.config.ts": slowConfig }));
    const url = await urlOf(cli);
    const response = await fetch(`${url}/api/chat?events=all`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ messages: [{ role: "user", content: "Go" }] }),
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await until(reader, "tool_call_start");
    cli.child.kill("SIGTERM");
    await cli.waitForOutput(/Shutting down\. Waiting up to 25 s for active runs/);
    cli.child.kill("SIGTERM");
    expect(await cli.exit).toBe(143);
    await reader.cancel().catch(() => undefined);
  });

  it("continues after an unhandled error in a tool, and reports it", async () => {
    const stray =
      "execute: () => { setTimeout(() => { throw new Error('the chain broke'); }, 5); void Promise.reject(new Error('the rope too')); return 'dropped'; },";
    const config = slowConfig
      .replace(/execute: .*,/, stray)
      .replace(
        "() => ({ calls",
        "({ history }) => history.at(-1).type === 'result' ? { text: 'Anchored.' } : ({ calls",
      );
    const cli = start(["serve", "--port", "0", "--trust"], project({ "capstan.config.ts": config }));
    const url = await urlOf(cli);
    const ask = async () => {
      const body = JSON.stringify({ messages: [{ role: "user", content: "Go" }] });
      const headers = { "content-type": "application/json" };
      return (await fetch(`${url}/api/chat`, { method: "POST", headers, body })).text();
    };
    expect(await ask()).toContain("Anchored.");
    await cli.waitForOutput(/uncaught: the chain broke \(details in .*server\.log\)/);
    await cli.waitForOutput(/uncaught: the rope too/);
    expect(await ask()).toContain("Anchored.");
    cli.child.kill("SIGTERM");
    expect(await cli.exit).toBe(0);
  });

  it.each([
    { command: ["serve", "--sse-log", "events.log"], server: "" },
    { command: ["dev", "--no-open", "--sse-log"], server: "" },
    { command: ["dev", "--no-open"], server: "server: { sseLog: true }," },
  ])("$command $server logs every event that is sent (S1-19)", async (setting) => {
    const config = slowConfig
      .replace(/execute: .*,/, `execute: () => "Two\\nlines",`)
      .replace("() => ({", "({ history }) => history.length > 1 ? { text: 'Read.', split: 2 } : ({")
      .replace("defineConfig({", `defineConfig({ ${setting.server}`);
    const made = project({ "capstan.config.ts": config });
    const cli = start([...setting.command, "--port", "0", "--trust"], made);
    const url = await urlOf(cli);
    const response = await fetch(`${url}/api/chat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ messages: [{ role: "user", content: "Go" }] }),
    });
    const sent = [...(await response.text()).matchAll(/^event: (.*)\ndata: (.*)$/gm)];
    expect(sent.map(([, event]) => event)).toEqual(
      expect.arrayContaining(["tool_call_start", "tool_call_result", "content_delta", "done"]),
    );
    const lines = sent.map(([, event, data]) => `event: ${event} | data: ${data}\n`).join("");
    const file = join(made.folder, "events.log");
    const isInFile = setting.command.includes("events.log");
    await expect.poll(() => (isInFile ? readFileSync(file, "utf8") : cli.stderr())).toBe(lines);
  });

  it("refuses a public address without a key, and requires the key if one is set (A81)", async () => {
    const { folder, env } = project();
    const open = start(["serve", "--port", "0", "--host", "0.0.0.0"], { folder, env });
    expect(await open.exit).toBe(1);
    expect(open.stderr()).toMatch(/0\.0\.0\.0.*Set a key.*CAPSTAN_API_KEY/);
    const key = "a-key-of-some-length";
    const closed = start(["serve"], {
      folder,
      env: { ...env, PORT: "0", HOST: "127.0.0.1", CAPSTAN_API_KEY: key },
    });
    const url = await urlOf(closed);
    expect(closed.stdout() + closed.stderr()).not.toContain(key);
    expect((await fetch(`${url}/api/agents`)).status).toBe(401);
    const answer = await fetch(`${url}/api/agents`, { headers: { authorization: `Bearer ${key}` } });
    expect(answer.status).toBe(200);
  });

  it("suggests a fix when the port is in use or invalid", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    const { port } = taken.address() as { port: number };
    const loud = project({ "capstan.config.ts": 'throw new Error("The config was loaded.");' });
    const { folder, env } = project();
    const problem = `Port ${port} is in use. Stop the other process, or choose another port with --port`;
    const cli = start(["serve", "--trust", "--port", String(port)], loud);
    expect(await cli.exit).toBe(1);
    // Nothing has happened before: the config was not loaded, and no database was created.
    expect(cli.stderr()).toContain(problem);
    expect(existsSync(join(loud.folder, ".data"))).toBe(false);
    const configured = project({ "capstan.config.ts": `export default { server: { port: ${port} } };` });
    const second = start(["serve", "--trust"], configured);
    expect(await second.exit).toBe(1);
    expect(second.stderr()).toContain(problem);
    expect(readdirSync(join(configured.folder, ".data"))).not.toContain("capstan.db");
    taken.close();
    const none = start(["serve"], { folder, env: { ...env, PORT: "http" } });
    expect(await none.exit).toBeGreaterThan(0);
    expect(none.stderr()).toContain('The environment variable PORT is not a valid port: "http"');
  });
});
