import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../../testing/cli-in-process.ts";
import {
  createScratchProject,
  type ScratchProject,
  sourceCommand,
  startCli,
} from "../../testing/cli-process.ts";

const loaderFile = join(import.meta.dirname, "../../../../server/src/testing/text-loader.ts");
const config = `
import { defineConfig } from "@capstan/cli";
import { defineAgent } from "capstan";
import { textLoader } from ${JSON.stringify(loaderFile)};
export default defineConfig({ agents: [defineAgent({ name: "texts", model: "offline" })], data: { texts: textLoader() } });
`;

let project: ScratchProject;
beforeEach(() => {
  project = createScratchProject({
    "work/apps/capstan.config.ts": config,
    "notes/plan.txt": "The plan is ready.",
    "notes/picture.bin": "0",
    "work/deep/er/here.txt": "",
  });
});
afterEach(() => project.remove());

/** In a folder of the checkout that is not the folder of the config. */
const run = (...words: string[]) =>
  runCli(["--trust", ...words], project, { cwd: join(project.folder, "work/deep/er") });

describe("capstan app", () => {
  it("remembers folders, says what was read and skipped and why, and answers one question", async () => {
    const { code, stdout, stderr } = await run(
      "app",
      "texts",
      "../../../notes",
      "-p",
      "What do the notes say?",
    );
    expect(stderr).toContain(
      "Loading notes…\ntexts-notes: 1 text read, 1 skipped:\n  picture.bin: .bin files are not read.\n",
    );
    expect([code, stdout]).toEqual([0, "The plan is ready.\n"]);
    const again = await run("app", "texts-notes", "-p", "Again?");
    expect([again.code, again.stdout]).toEqual([0, "The plan is ready.\n"]);
    const byAgent = await run(
      "--config",
      "../../apps/capstan.config.ts",
      "--agent",
      "texts-notes",
      "-p",
      "Again?",
    );
    expect(byAgent.stdout).toBe("The plan is ready.\n");
  });

  it("lists the apps with what they read, and the data; the same paths are the same data", async () => {
    for (const path of ["~/notes", "../../../notes/", "../../../notes/plan.txt"])
      await run("app", "texts", path, "-p", "Hi", "--set", "case=lower");
    const { stdout } = await run("app");
    expect(stdout.split("\n").map((line) => line.trimEnd())).toEqual([
      "APP    READS",
      "texts  text files",
      "",
      expect.stringMatching(/^NAME +TITLE +DATA +ADDED$/),
      expect.stringMatching(/^texts-notes +notes +\S+\/notes +just now$/),
      expect.stringMatching(/^texts-plan +plan +\S+\/notes\/plan.txt +just now$/),
      "",
    ]);
    const { apps, sources } = JSON.parse((await run("app", "--json")).stdout);
    expect(apps).toEqual([{ app: "texts", description: "text files", extensions: [".txt"] }]);
    expect(sources[0]).toMatchObject({
      ...{ name: "texts-notes", app: "texts", settings: { case: "lower" } },
      locations: [join(project.folder, "notes")],
    });
  });

  it("removes data, and says what is kept", async () => {
    await run("app", "texts", "~/notes", "-p", "Hi");
    const { code, stdout } = await run("app", "remove", "texts-notes");
    expect([code, stdout]).toEqual([0, "Removed texts-notes. Its sessions and your files are kept.\n"]);
    expect((await run("app")).stdout).toContain(
      "No data yet. Add some: capstan app <app> <files and folders…>",
    );
    expect((await run("app", "remove", "texts-notes")).stderr).toContain(
      'Own data not found: "texts-notes".',
    );
  });

  it.each([
    [["text", "../../../notes"], 'No app and no data is named "text". Did you mean "texts"?'],
    [["texts"], "Name the files or folders for texts: capstan app texts <paths…>. It reads text files."],
    [["texts", "none"], "none: not found. Check the path."],
    [["texts", "../../../notes/picture.bin"], "it does not read .bin files. texts reads text files."],
    [["texts", "../../../notes", "--set", "case"], "Must be name=value, such as source=From."],
  ])("%j is refused with what to do", async (words, message) => {
    const { code, stderr } = await run("app", ...words, "-p", "Hi");
    expect(code).not.toBe(0);
    expect(stderr).toContain(message);
    expect(JSON.parse((await run("app", "--json")).stdout).sources).toEqual([]);
  });

  it("forgets new data that cannot be loaded, and keeps data that could be loaded before", async () => {
    project.write("empty/picture.bin", "0");
    const failed = await run("app", "texts", "~/empty", "-p", "Hi");
    expect(failed.code).not.toBe(0);
    expect(failed.stderr).toContain("No text file in empty.");
    const listNames = async () =>
      JSON.parse((await run("app", "--json")).stdout).sources.map(({ name }: { name: string }) => name);
    expect(await listNames()).toEqual([]);
    project.write("empty/plan.txt", "Found.");
    await run("app", "texts", "~/empty", "-p", "Hi");
    rmSync(join(project.folder, "empty/plan.txt"));
    expect((await run("app", "texts", "~/empty", "-p", "Hi")).code).not.toBe(0);
    expect(await listNames()).toEqual(["texts-empty"]);
  });

  it("opens the apps of the repository from a folder without a config", async () => {
    const outside = createScratchProject({ "notes/oslo.md": "# Oslo\n\nThe ferry leaves at nine." });
    try {
      const words = ["app", "knowledge", "notes", "-p", "When does the ferry leave?"];
      const { stdout, stderr } = await runCli(words, outside);
      expect(stderr).toContain("knowledge-notes: 1 document, 1 passage read.");
      expect(stdout).toContain("The ferry leaves at nine.");
      expect((await runCli(["app"], { ...outside, folder: tmpdir() })).stdout).toMatch(/^knowledge-notes /m);
    } finally {
      await outside.remove();
    }
  });

  it("says what to do where no config opens own data", async () => {
    project.write("work/deep/capstan.config.ts", "export default {};");
    for (const words of [[], ["texts", "../../../notes", "-p", "Hi"], ["remove", "x"]]) {
      const { code, stderr } = await run("app", ...words);
      expect(code).not.toBe(0);
      expect(stderr).toContain(
        "No app opens own data here. Run this command in a folder of the Capstan repository",
      );
    }
  });

  it("opens the studio on the data: the server has it, and allows paths on this machine", async () => {
    const words = [
      "app",
      "texts",
      "notes",
      "--config",
      "work/apps/capstan.config.ts",
      "--port",
      "0",
      "--no-open",
    ];
    const cli = startCli(words, project, sourceCommand);
    try {
      const [, url = ""] = await cli.waitForOutput(/listens on (http:\/\/\S+)\n[\s\S]*Ctrl-C/);
      await cli.waitForOutput(/texts-notes: 1 text read, 1 skipped:/);
      const answer = await fetch(`${url}/api/data`);
      expect(await answer.json()).toMatchObject({
        sources: [{ id: "texts-notes", state: "ready" }],
        allowsPaths: true,
      });
      cli.child.kill("SIGTERM");
      expect(await cli.exit).toBe(0);
    } finally {
      cli.child.kill("SIGKILL");
      await cli.exit;
    }
  });
});
