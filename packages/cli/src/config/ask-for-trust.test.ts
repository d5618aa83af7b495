import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ScratchProject, scratchProject } from "../testing/cli-process.ts";
import { startInPty } from "../testing/pty.ts";

const config = `
import { defineAgent } from "capstan";
import { offline } from "capstan/models/offline";
export default { agents: [defineAgent({ name: "sailor", model: offline({ id: "offline/sailor" }) })] };
`;

let project: ScratchProject;
beforeEach(() => {
  project = scratchProject({ "app/capstan.config.mjs": config });
});
afterEach(() => project.remove());

const start = (...words: string[]) =>
  startInPty(import.meta.url, ["../bin.ts", ...words], {
    cwd: join(project.folder, "app"),
    env: { ...project.env, TERM: "xterm-256color" },
  });

describe("in a terminal", () => {
  it("a folder is asked about once, and trusted only when the user says so", {
    timeout: 30_000,
  }, async () => {
    await using no = start();
    await no.shows("Do you trust this folder?");
    no.type("\r");
    await no.shows("is not used");
    no.type("\u0004");
    expect(await no.exitCode).toBe(0);
    await using yes = start();
    await yes.shows("Do you trust this folder?");
    yes.type("y");
    await yes.shows("offline/sailor");
    yes.type("\u0004");
    expect(await yes.exitCode).toBe(0);
    expect(readFileSync(join(project.folder, ".data", "trust.json"), "utf8")).toContain("/app");
    await using again = start("-r");
    await again.shows("There is no session yet");
    expect(again.screen()).not.toContain("Do you trust");
    expect(await again.exitCode).toBe(1);
  });
});
