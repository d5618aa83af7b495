import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { spawn } from "@lydell/node-pty";
import { afterEach, expect, it } from "vitest";
import {
  type CliProcess,
  cliCommand,
  createScratchProject,
  type ScratchProject,
  startCli,
} from "../testing/cli-process.ts";
import { checkTrust, trustFile } from "../trust/trust.ts";

const started: CliProcess[] = [];
const projects: ScratchProject[] = [];
afterEach(async () => {
  for (const { child, exit } of started.splice(0)) {
    child.kill("SIGKILL");
    await exit;
  }
  for (const made of projects.splice(0)) made.remove();
});

const config = (name: string) => `
import { existsSync } from "node:fs";
import { defineConfig } from "@capstan/cli";
import { defineAgent, defineTool } from "capstan";
import { scriptedModel } from "capstan/testing";
import { answer } from "./answer.ts";
const wait = defineTool({
  name: "wait",
  description: "Waits for a file",
  input: { type: "object", properties: {} },
  effects: "none",
  async execute() {
    while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 20));
    return "gone on";
  },
});
const model = scriptedModel(({ history }) =>
  history.at(-1).type === "result" || JSON.stringify(history.at(-1)).includes("Now")
    ? { text: answer }
    : { calls: [{ name: "wait", input: {} }] },
);
export default defineConfig({ agents: [defineAgent({ name: "${name}", model, tools: [wait] })] });
`;

async function ask(url: string, content: string): Promise<string> {
  const response = await fetch(`${url}/api/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content }] }),
  });
  return response.text();
}

type ListedAgent = { readonly name: string; readonly skills?: readonly { readonly description: string }[] };

const fetchAgents = async (url: string) =>
  ((await (await fetch(`${url}/api/agents`)).json()) as { agents: ListedAgent[] }).agents;
const agentsOf = async (url: string) => (await fetchAgents(url)).map(({ name }) => name);

const skill = (description: string) => `---\nname: notes\ndescription: ${description}\n---\nBe short.\n`;

it("dev reloads the configuration, its imports and skills on change; a broken one changes nothing; an active run finishes with the old one", async () => {
  const project = createScratchProject({
    "capstan.config.ts": config("first"),
    "answer.ts": `export const answer = "old";`,
    ".capstan/skills/notes/SKILL.md": skill("Old notes."),
  });
  projects.push(project);
  // Trusted once: the user edits the files while the server runs, so it does not ask again.
  await trustFile(checkTrust(join(project.folder, "capstan.config.ts"), project.env), project.env);
  const cli = startCli(["dev", "--port", "0"], project);
  started.push(cli);
  const [, url = ""] = await cli.waitForOutput(/listens on (http:\/\/\S+)\n[\s\S]*Ctrl-C/);
  // The studio where it is built, else the start page.
  expect(await (await fetch(url)).text()).toContain("Capstan");
  expect(await agentsOf(url)).toEqual(["first"]);
  const running = ask(url, "Wait");

  project.write("answer.ts", `export const answer = "new";`);
  await cli.waitForOutput(/Reloaded capstan\.config\.ts: new runs use first/);
  expect(await ask(url, "Now")).toContain("new");

  project.write("capstan.config.ts", `${config("second")}\nconst broken = ;\n`);
  await cli.waitForOutput(/Reload failed, still using the previous config: .*capstan\.config\.ts:\d+\)/);
  expect(await agentsOf(url)).toEqual(["first"]);

  project.write("capstan.config.ts", config("second"));
  await cli.waitForOutput(/new runs use second/);
  expect(await agentsOf(url)).toEqual(["second"]);

  const listSkills = async () => (await fetchAgents(url)).flatMap(({ skills = [] }) => skills);
  expect(await listSkills()).toMatchObject([{ description: "Old notes." }]);
  project.write(".capstan/skills/notes/SKILL.md", skill("New notes."));
  await expect.poll(listSkills).toMatchObject([{ description: "New notes." }]);

  project.write("go", "");
  expect(await running).toContain("old");
  cli.child.kill("SIGINT");
  expect(await cli.exit).toBe(0);
});

it("dev uses the next port when the requested one is taken, and opens a browser that a one-time code in the fragment signs in (A82)", async () => {
  const project = createScratchProject({
    browser: `#!/bin/sh\nprintf %s "$1" > opened.part && mv opened.part opened\n`,
  });
  projects.push(project);
  chmodSync(join(project.folder, "browser"), 0o755);
  const first = startCli(["dev", "--port", "0"], project);
  started.push(first);
  const [, port] = await first.waitForOutput(/listens on http:\/\/127\.0\.0\.1:(\d+)[\s\S]*Ctrl-C/);

  const key = "a-key-of-some-length";
  const terminal = spawn(process.execPath, [...cliCommand, "dev", "--port", port ?? ""], {
    cwd: project.folder,
    env: { ...project.env, CAPSTAN_API_KEY: key, BROWSER: join(project.folder, "browser") },
  });
  let screen = "";
  terminal.onData((text) => {
    screen += text;
  });
  const exit = new Promise((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)));
  await expect.poll(() => existsSync(join(project.folder, "opened"))).toBe(true);
  const opened = new URL(readFileSync(join(project.folder, "opened"), "utf8"));
  expect(screen).toContain(`Port ${port} is in use; using ${opened.port}.`);
  const code = opened.hash.replace("#code=", "");
  expect(screen).not.toContain(code);
  expect(screen).not.toContain(key);
  const signIn = () =>
    fetch(`${opened.origin}/api/sign-in`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code }),
    });
  const answer = await signIn();
  expect(answer.status).toBe(204);
  expect(answer.headers.get("set-cookie")).toMatch(/HttpOnly/i);
  expect((await signIn()).status).toBe(401);
  terminal.write("\u0003");
  expect(await exit).toBe(0);
});
