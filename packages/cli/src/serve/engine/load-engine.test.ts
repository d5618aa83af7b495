import { createRequire } from "node:module";
import { arch, platform } from "node:os";
import { afterEach, describe, expect, it } from "vitest";
import {
  type CliProcess,
  createScratchProject,
  type ScratchProject,
  startCli,
} from "../../testing/cli-process.ts";

const config = `
import { defineConfig } from "@capstan/cli";
import { defineAgent } from "capstan";
import { scriptedModel } from "capstan/testing";
export default defineConfig({
  agents: [defineAgent({ name: "helper", model: scriptedModel(() => ({ text: "Scheduled." })) })],
});
`;

let project: ScratchProject | undefined;
let cli: CliProcess | undefined;
function start(...words: string[]): CliProcess {
  project = createScratchProject({ "capstan.config.ts": config });
  cli = startCli([...words, "--trust"], project);
  return cli;
}
afterEach(async () => {
  cli?.child.kill("SIGKILL");
  await cli?.exit;
  project?.remove();
});

function hasRestateServer(): boolean {
  try {
    createRequire(import.meta.url).resolve(`@restatedev/restate-server-${platform()}-${arch()}/package.json`);
    return true;
  } catch {
    return false;
  }
}

describe("--engine", () => {
  it("names the engines there are", async () => {
    const { exit, waitForOutput } = start("serve", "--port", "0", "--engine", "restat");
    await waitForOutput(/Unknown engine "restat"\. Did you mean "restate"\? Use local, restate or dbos\./);
    expect(await exit).not.toBe(0);
  });

  it("needs Postgres for DBOS", async () => {
    const { exit, waitForOutput } = start("worker", "--engine", "dbos");
    await waitForOutput(/The engine dbos needs Postgres\. Set `database` in the config/);
    expect(await exit).not.toBe(0);
  });

  it.skipIf(!hasRestateServer())(
    "starts a Restate server for a trial in dev, which schedules the runs",
    async () => {
      const { child, exit, waitForOutput, stdout, stderr } = start(
        ...["dev", "--no-open", "--port", "0", "--engine", "restate"],
      );
      const [, url] = await waitForOutput(/listens on (http:\/\/\S+)\n/);
      expect(stderr()).toMatch(
        /Restate calls http:\/\/127\.0\.0\.1:\d+\ntrial server, Business Source License/,
      );
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify({ input: "Go." });
      const { runId } = await (await fetch(`${url}/api/runs`, { method: "POST", headers, body })).json();
      const getRun = async () => (await fetch(`${url}/api/runs/${runId}`)).json();
      await expect.poll(getRun).toMatchObject({ state: "ended", result: { text: "Scheduled." } });
      child.kill("SIGTERM");
      expect([await exit, stdout()]).toEqual([0, expect.anything()]);
    },
  );
});
