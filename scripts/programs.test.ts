// The programs of docs/programs.md, as their readers run them.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createClient } from "capstan/client";
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import {
  cliCommand,
  createScratchProject,
  type ScratchProject,
} from "../packages/cli/src/testing/cli-process.ts";
import { startFakeChatServer } from "../packages/cli/src/testing/fake-chat-server.ts";
import { startCommandInPty } from "../packages/cli/src/testing/pty.ts";
import { startPostgres } from "../packages/verification/src/postgres/start-postgres.ts";

const { CAPSTAN_BUILT: built } = process.env;
const root = built ?? join(import.meta.dirname, "..");
const flags = built ? [] : ["--conditions=capstan-source"];

let project: ScratchProject;
beforeEach(() => {
  project = createScratchProject();
});
afterEach(() => project.remove());

type Env = { readonly [name: string]: string };

function startProgram(name: string, words: readonly string[], env: Env): ChildProcess {
  const program = [...flags, join(root, `docs/programs/${name}.ts`), ...words];
  const child = spawn(process.execPath, program, { cwd: project.folder, env: { ...project.env, ...env } });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** Starts the server and returns its port. */
async function startSupport(env: Env): Promise<{ readonly child: ChildProcess; readonly port: string }> {
  const child = startProgram("support-agent", [], env);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  await expect.poll(() => output, { timeout: 60_000 }).toMatch(/port: \d+/);
  return { child, port: /port: (\d+)/.exec(output)?.[1] ?? "" };
}

it("the support agent answers from Postgres, and its approval outlives a crash", async () => {
  const database = await startPostgres();
  onTestFinished(() => database.stop());
  const env = { DATABASE_URL: database.url, PORT: "0" };
  const first = await startSupport(env);
  const pool = database.pool();
  await pool.query("insert into orders values ('A17', '', 'desk lamp'), ('B42', 'eve', 'chair')");
  const connect = (port: string) => createClient({ baseURL: `http://127.0.0.1:${port}/agents` });
  const ask = async (port: string, input: string) => {
    const client = connect(port);
    const { runId } = await client.runs.start({ input });
    for await (const event of client.runs.events(runId)) if (event.type === "waiting") break;
    return client.runs.get(runId);
  };

  const listed = await ask(first.port, "Show my orders");
  expect(listed.result?.text).toContain("desk lamp");
  expect(listed.result?.text).not.toContain("chair");

  const asked = await ask(first.port, "Cancel order A17");
  expect(asked.result?.status).toBe("waiting");
  first.child.kill("SIGKILL");
  await once(first.child, "close");

  const second = await startSupport(env);
  const client = connect(second.port);
  const { runId, result } = await client.runs.get(asked.runId);
  await client.runs.approve(runId, result?.pending[0]?.callId ?? "");
  for await (const event of client.runs.events(runId)) if (event.type === "done") break;
  expect((await pool.query("select number from orders")).rows).toEqual([{ number: "B42" }]);
  second.child.kill("SIGTERM");
  expect(await once(second.child, "close")).toEqual([0, null]);
});

it("the research agent searches, streams its answer, and lists the sources that it cites", async () => {
  const results = [
    { title: "Tides in Bergen", url: "https://tides.example/bergen", content: "High water is at 6:40." },
    { title: "Bergen", url: "https://towns.example/bergen", content: "A town with rain." },
  ];
  const search = createServer((_, response) => {
    response.setHeader("content-type", "application/json").end(JSON.stringify({ results }));
  });
  await new Promise<void>((resolve) => search.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void search.close());
  await using model = await startFakeChatServer();
  model.replies = [
    { calls: [{ name: "web_search", input: { query: "high water Bergen" } }] },
    { text: "High water is at 6:40 [1]." },
  ];
  const child = startProgram("research-agent", ["When", "is", "high", "water", "in", "Bergen?"], {
    ...{ CAPSTAN_MODEL: "ollama/small", OLLAMA_HOST: model.host },
    SEARXNG_URL: `http://127.0.0.1:${(search.address() as AddressInfo).port}`,
  });
  const [stdout, stderr] = await Promise.all(
    [child.stdout, child.stderr].map(async (stream) => (await Array.fromAsync(stream ?? [])).join("")),
  );
  expect(stdout).toBe("High water is at 6:40 [1].\n[1] Tides in Bergen https://tides.example/bergen\n");
  expect(stderr).toContain('web_search {"query":"high water Bergen"}\ndone, $');
});

it("the coding agent shows its change and its command, and makes them once they are approved", async () => {
  project.write("sum.js", "export const sum = (a, b) => a - b;\n");
  project.write("check.js", 'import { sum } from "./sum.js";\nconsole.log("checked:", sum(2, 3));\n');
  await using model = await startFakeChatServer();
  model.replies = [
    { calls: [{ name: "read_file", input: { path: "sum.js" } }] },
    {
      calls: [{ name: "edit_file", input: { path: "sum.js", edits: [{ find: "a - b", replace: "a + b" }] } }],
    },
    { calls: [{ name: "shell", input: { command: [process.execPath, "check.js"] } }] },
    { text: "It adds now." },
  ];
  const config = join(root, "docs/programs/coding-agent.ts");
  const command = [process.execPath, ...cliCommand, "--config", config];
  await using chat = startCommandInPty(command as [string, ...string[]], {
    cwd: project.folder,
    env: { ...project.env, CAPSTAN_MODEL: "ollama/small", OLLAMA_HOST: model.host, TERM: "xterm-256color" },
    ...{ columns: 120, rows: 50 },
  });
  await chat.waitFor("Ask anything");
  chat.type("Fix sum.js\r");
  const shown = await chat.waitFor(/\+ ?export const sum = \(a, b\) => a \+ b;[\s\S]*\by\b/);
  expect(shown).toMatch(/- ?export const sum = \(a, b\) => a - b;/);
  expect(readFileSync(join(project.folder, "sum.js"), "utf8")).toContain("a - b");
  chat.type("y");
  await chat.waitFor(/check\.js[\s\S]*\by\b/);
  chat.type("y");
  const screen = await chat.waitFor("It adds now.");
  expect(screen).toContain("checked: 5");
  expect(readFileSync(join(project.folder, "sum.js"), "utf8")).toContain("a + b");
  chat.type("/quit\r");
  expect(await chat.exitCode).toBe(0);
});
