import { existsSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { createScratchProject, type ScratchProject, startCli } from "../testing/cli-process.ts";
import { openStore } from "../workspace/open-store.ts";
import { openServerInstance } from "./server-instance.ts";

/** An agent whose tool writes a file, once it may. */
const config = `
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineAgent, defineTool } from "capstan";
import { scriptedModel } from "capstan/testing";
const here = (name) => join(import.meta.dirname, name);
const load = defineTool({
  name: "load",
  description: "Loads the ship",
  input: { type: "object", properties: {} },
  effects: "none",
  async execute() {
    while (!existsSync(here("go"))) await new Promise((resolve) => setTimeout(resolve, 20));
    writeFileSync(here("loaded"), "");
    return "loaded";
  },
});
const model = scriptedModel(({ history }) =>
  history.at(-1).type === "result" ? { text: "Loaded." } : { calls: [{ name: "load", input: {} }] },
);
export default { agents: [defineAgent({ name: "sailor", model, tools: [load] })] };
`;

async function served(project: ScratchProject, env: ScratchProject["env"]) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const io = { stdin, stdout, stderr, env, cwd: project.folder };
  const generation = await openServerInstance({ flags: { trust: true }, io });
  onTestFinished(() => generation.close(0));
  return { said: () => String(stderr.read() ?? "") };
}

function project(): ScratchProject {
  const made = createScratchProject({ "capstan.config.mjs": config });
  onTestFinished(made.remove);
  return made;
}

it("an interrupted run is resumed by its own project, not by another with an agent of that name", async () => {
  const [mine, other] = [project(), project()];
  const { env } = mine;
  const cli = startCli(["-p", "Load", "--trust", "--session-id", "ses_cargo"], mine);
  cli.child.stdin.end();
  await cli.waitForOutput(/· load \{\}/);
  cli.child.kill("SIGINT");
  expect(await cli.exit).toBe(130);
  for (const { write } of [mine, other]) write("go", "");

  // Until it counts as left: the process has gone without a word.
  const { store } = await openStore(join(env.CAPSTAN_HOME ?? "", "capstan.db"));
  onTestFinished(() => store.close());
  await expect.poll(async () => (await store.listOrphans()).length).toBe(1);

  const foreign = await served(other, env);
  await delay(500);
  expect(foreign.said()).toBe("");
  const own = await served(mine, env);
  await expect.poll(() => existsSync(join(mine.folder, "loaded"))).toBe(true);
  await expect
    .poll(async () => (await store.listRuns("ses_cargo")).map(({ state }) => state))
    .toEqual(["ended"]);
  expect(own.said()).toBe("Resuming 1 unfinished run.\n");
  expect(existsSync(join(other.folder, "loaded"))).toBe(false);
});
