import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openAiResponsesEncoder } from "../packages/capstan/src/testing/wire-encoders.ts";
import {
  type LoopbackRegistry,
  startLoopbackRegistry,
} from "../packages/cli/src/testing/loopback-registry.ts";
import { packPackages } from "../packages/cli/src/testing/pack-packages.ts";
import { startCommandInPty } from "../packages/cli/src/testing/pty.ts";
import { studioFolder } from "../packages/studio/src/index.ts";
import { withBuiltStudio } from "../packages/studio/src/testing/build-studio.ts";
import { patternOf, tutorialBlocks } from "./tutorial.ts";

const root = join(import.meta.dirname, "..");
const names = ["capstan", "offline", "tools", "mcp", "server", "studio", "cli"];

let place = "";
let registry: LoopbackRegistry;
let provider: Server;
/** Of the reader: nothing of whoever runs this test. */
let env: Record<string, string> = {};
/** Where the reader stands. */
let folder = "";
let port = 0;

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function listening(server: Server): Promise<Server> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

/** OpenAI, with a model that calls the tool and then says what it gave. */
function fakeProvider(): Server {
  const call = { id: "call_1", name: "berth_price", arguments: '{"metres":9,"nights":3}' };
  const speeches = [{ calls: [call] }, { text: "It will be 81 euros." }];
  return createServer((request, response) => {
    request.resume().on("end", () => {
      const { body, end } = openAiResponsesEncoder.encode(speeches.shift() ?? { text: "Nothing." });
      response.writeHead(200, { "content-type": "text/event-stream" }).end(body + end);
    });
  });
}

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), "capstan-tutorial-"));
  folder = join(place, "reader");
  mkdirSync(folder);
  // None of our packages: those are installed from what was packed.
  registry = await startLoopbackRegistry(root, [], { programsOnly: true });
  provider = await listening(fakeProvider());
  const free = await listening(createServer());
  port = portOf(free);
  free.close();
  env = {
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME: folder,
    LANG: "C.UTF-8",
    // In the place of 4680, which somebody may use.
    PORT: String(port),
    OPENAI_BASE_URL: `http://127.0.0.1:${portOf(provider)}`,
    npm_config_cache: join(place, "npm-cache"),
    npm_config_userconfig: join(place, "none"),
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
    npm_config_ignore_scripts: "true",
    npm_config_registry: registry.url,
  };
});

let server: { readonly child: ChildProcess; readonly closed: Promise<unknown> } | undefined;

/** As Ctrl-C does: everything that was started there is told. */
async function stopServer(): Promise<void> {
  if (server?.child.pid !== undefined && server.child.exitCode === null)
    process.kill(-server.child.pid, "SIGINT");
  await server?.closed;
  server = undefined;
}

afterAll(async () => {
  await stopServer();
  provider?.close();
  registry?.close();
  rmSync(place, { recursive: true, force: true, maxRetries: 3 });
});

function shell(script: string): { child: ChildProcess; said: () => string; closed: Promise<number | null> } {
  // The last line tells where the shell has gone to.
  const whole = `exec 2>&1\n${script}\nstatus=$?; pwd >&3; exit $status`;
  const stdio = ["ignore", "pipe", "pipe", "pipe"] as const;
  const child = spawn("bash", ["-c", whole], { cwd: folder, env, stdio: [...stdio], detached: true });
  let said = "";
  let gone = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  child.stdio[3]?.on("data", (text: Buffer) => {
    gone += text.toString();
  });
  const closed = new Promise<number | null>((resolve) => {
    child.on("close", (code) => {
      if (gone !== "") folder = gone.trim();
      resolve(code);
    });
  });
  return { child, said: () => said, closed };
}

async function runToItsEnd(script: string, shown: string): Promise<void> {
  const { said, closed } = shell(script);
  expect(await closed, said()).toBe(0);
  expect(`${said()}\n`).toMatch(patternOf(shown, "all"));
}

async function startServer(script: string, shown: string): Promise<void> {
  await stopServer();
  const { child, said, closed } = shell(script);
  server = { child, closed };
  await expect.poll(said).toMatch(patternOf(shown, "within"));
  if (!/^ {2}studio /m.test(shown)) return;
  const page = await (await fetch(`http://127.0.0.1:${port}`)).text();
  expect(page).toContain('<script type="module"');
}

/** A line behind "›" is typed; "allowed" is what the key y makes of a question. */
async function talkInTerminal(script: string, shown: string): Promise<void> {
  const [command = "", ...words] = script.trim().split(" ");
  await using terminal = startCommandInPty([command, ...words], { columns: 100, rows: 60, cwd: folder, env });
  await terminal.waitFor("› Ask anything");
  const steps = shown.split(/^(?=› | {2}allowed$)/m);
  let before = "";
  for (const step of steps) {
    const typed = /^› (.*)/.exec(step)?.[1];
    if (typed !== undefined) terminal.type(`${typed}\r`);
    if (step.startsWith("  allowed")) {
      await terminal.waitFor("y allow");
      terminal.type("y");
    }
    before += step;
    await terminal.waitFor(patternOf(before, "within"));
  }
  terminal.type("\u0004");
  expect(await terminal.exitCode).toBe(0);
}

/** The pages of the studio take long to build, so those of the workspace are used. */
async function addPages(packages: string): Promise<void> {
  await withBuiltStudio(() => cpSync(studioFolder, join(packages, "studio/dist/app"), { recursive: true }));
}

/** Has the same outcome as the commands of the page, without a build of the whole workspace. */
async function packFromClone(script: string): Promise<void> {
  const packed = await packPackages({ place, names, env, addBuilt: addPages });
  const named = [...script.matchAll(/ -w (\S+)/g)].map(([, name]) => name);
  expect(named).toEqual(packed.map(({ name }) => name));
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  for (const [, name = ""] of script.matchAll(/npm run (\S+)/g)) expect(scripts).toHaveProperty(name);
  renameSync(join(place, "tarballs"), join(folder, "packed"));
}

const run = { here: runToItsEnd, server: startServer, terminal: talkInTerminal, clone: packFromClone };

describe("the tutorial", () => {
  it("leads from an empty folder to a served agent when followed to the letter (A123)", {
    timeout: 180_000,
  }, async () => {
    const page = readFileSync(join(root, "docs/tutorial.md"), "utf8").replaceAll("4680", String(port));
    const blocks = tutorialBlocks(page);
    expect(blocks.length).toBeGreaterThan(20);
    for (const block of blocks) {
      if (block.type === "file") writeFileSync(join(folder, block.path), block.text);
      else await run[block.how](block.script, block.shown ?? "");
    }
  });
});

describe("the reading of the tutorial", () => {
  it("recognizes files, commands and their output", () => {
    const page =
      "```ts\n// file: a.ts\n1;\n```\n```sh\nls\n```\n\n```text\na.ts\n```\n```sh server\nserve\n```\n";
    expect(tutorialBlocks(page)).toEqual([
      { type: "file", path: "a.ts", text: "// file: a.ts\n1;\n" },
      { type: "shell", how: "here", script: "ls\n", shown: "a.ts\n" },
      { type: "shell", how: "server", script: "serve\n" },
    ]);
  });

  it.each([
    "```ts\nnameless;\n```\n",
    "```sh later\nls\n```\n",
    "```text\nof nothing\n```\n",
  ])("refuses %j", (page) => {
    expect(() => tutorialBlocks(page)).toThrow("Nobody knows what to do");
  });

  it("compares an output line by line, and ignores only the marked parts", () => {
    const pattern = patternOf("…\nadded … packages\nend.\n", "all");
    expect("x\ny\nadded 3 packages\nend.\n").toMatch(pattern);
    expect("added 3 packages\nend.\n").toMatch(pattern);
    expect("added 3 packages\nmore\nend.\n").not.toMatch(pattern);
    expect("added 3 packages\nend!\n").not.toMatch(pattern);
    expect("added 3 packages\nend.\nmore\n").not.toMatch(pattern);
    expect("before\nend.\nbehind\n").toMatch(patternOf("end.\n", "within"));
  });
});
