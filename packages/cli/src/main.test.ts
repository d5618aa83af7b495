import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cliCommand, createScratchProject, type ScratchProject } from "./testing/cli-process.ts";
import { startCommandInPty } from "./testing/pty.ts";

let project: ScratchProject;
beforeEach(() => {
  project = createScratchProject();
});
afterEach(() => project.remove());

/** Through a shell, for where the output goes to. */
function shell(words: string, { env = {} }: { readonly env?: Readonly<Record<string, string>> } = {}) {
  const command = ["sh", process.execPath, ...cliCommand];
  return spawnSync("sh", ["-c", `"$@" ${words}`, ...command], {
    cwd: project.folder,
    env: { ...project.env, ...env },
    input: "",
    encoding: "utf8",
  });
}

describe.skipIf(!existsSync("/dev/full"))("output that cannot be written", () => {
  it.each([
    "-p Hello --no-session --tools none",
    "-p Hello --no-session --tools none --json",
    "-p Hello --no-session --tools none --stream-json",
    "sessions list --json",
    "models",
    "--version",
  ])("is a failure that is reported in one line: %s", (words) => {
    const { status, stderr } = shell(`${words} >/dev/full`);
    expect(status).toBe(1);
    expect(stderr.match(/cannot be written: .*ENOSPC.*/g)).toHaveLength(1);
  });
});

/** An agent whose tool is done when nobody listens to it any more. */
const strayConfig = (deed: string) => `
import { defineAgent, defineTool } from "capstan";
import { scriptedModel } from "capstan/testing";
const anchor = defineTool({
  name: "anchor",
  description: "Drops the anchor",
  input: { type: "object", properties: {} },
  effects: "none",
  execute: () => new Promise((resolve) => { ${deed} }),
});
const model = scriptedModel(({ history }) =>
  history.at(-1).type === "result" ? { text: "Anchored." } : { calls: [{ name: "anchor", input: {} }] },
);
export default { agents: [defineAgent({ name: "sailor", model, tools: [anchor] })] };
`;

describe("an unhandled error", () => {
  it.each([
    ["a timer", `setTimeout(() => { throw new Error("the chain broke"); }, 10);`],
    ["a promise", `void Promise.reject(new Error("the chain broke"));`],
  ])("ends a script with 1, the cause in one line, and one object: %s", (_what, deed) => {
    project.write("capstan.config.mjs", strayConfig(deed));
    const { status, stdout, stderr } = shell("-p Go --json --trust");
    expect(status).toBe(1);
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({
      status: "failed",
      error: { code: "internal", message: expect.stringContaining("the chain broke") },
    });
    expect(stderr).toMatch(/^capstan: .*the chain broke \(.*capstan\.config\.mjs:\d+:\d+\).*$/m);
    expect(stderr).not.toMatch(/^ {4}at /m);
    const listed = shell("sessions list --json");
    const shown = shell(`sessions show ${JSON.parse(listed.stdout)[0].id} --json`);
    expect(JSON.parse(shown.stdout).runs).toMatchObject([{ status: "cancelled" }]);
  });

  it("shows where it came from with CAPSTAN_DEBUG", () => {
    const deed = `setTimeout(() => { throw new Error("the chain broke"); }, 10);`;
    project.write("capstan.config.mjs", strayConfig(deed));
    const { status, stderr } = shell("-p Go --trust", { env: { CAPSTAN_DEBUG: "1" } });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^ {4}at /m);
  });

  it("is reported in a chat, which continues", async () => {
    const deed = `setTimeout(() => { throw new Error("the chain broke"); }, 10); setTimeout(resolve, 60, "dropped");`;
    project.write("capstan.config.mjs", strayConfig(deed));
    await using chat = startCommandInPty([process.execPath, ...cliCommand, "--trust"], {
      cwd: project.folder,
      env: { ...project.env, TERM: "xterm-256color" },
    });
    await chat.waitFor("Ask anything");
    chat.type("Go\r");
    await chat.waitFor("Anchored.");
    expect(chat.getScreen("all")).toContain("the chain broke");
    chat.type("\u0004");
    expect(await chat.exitCode).toBe(0);
  });

  it("ends a command that only looks, too", () => {
    project.write(
      "capstan.config.mjs",
      `setTimeout(() => { throw new Error("adrift"); }, 0); await new Promise(() => {}); export default {};`,
    );
    const { status, stderr } = shell("models --trust");
    expect(status).toBe(1);
    expect(stderr).toMatch(/^capstan: .*adrift/m);
  });
});
