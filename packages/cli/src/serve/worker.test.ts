import { afterEach, describe, expect, it } from "vitest";
import {
  type CliProcess,
  createScratchProject,
  type ScratchProject,
  startCli,
} from "../testing/cli-process.ts";

/** An agent that answers with the process that executes it, after a tool that waits for a file. */
const config = `
import { existsSync } from "node:fs";
import { defineConfig } from "@capstan/cli";
import { defineAgent, defineTool } from "capstan";
import { scriptedModel } from "capstan/testing";
const wait = defineTool({
  name: "wait",
  description: "Waits",
  input: { type: "object", properties: {} },
  effects: "none",
  async execute() {
    while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 20));
    return "done";
  },
});
const model = scriptedModel(({ history }) =>
  history.at(-1).type === "result" ? { text: "Executed by " + process.pid } : { calls: [{ name: "wait", input: {} }] },
);
export default defineConfig({ server: { leaseMs: 1000 }, agents: [defineAgent({ name: "slow", model, tools: [wait] })] });
`;

const started: CliProcess[] = [];
let project: ScratchProject | undefined;
function start(...words: string[]): CliProcess {
  project ??= createScratchProject({ "capstan.config.ts": config });
  const cli = startCli(words, project);
  started.push(cli);
  return cli;
}
afterEach(async () => {
  for (const { child, exit } of started.splice(0)) {
    child.kill("SIGKILL");
    await exit;
  }
  project?.remove();
  project = undefined;
});

describe("capstan worker", () => {
  it("executes the runs of a server that does no work, and those of a worker that was killed (F73, F82)", async () => {
    const server = start("serve", "--no-work", "--port", "0", "--trust");
    const [, url = ""] = await server.waitForOutput(/listens on (http:\/\/\S+)\n[\s\S]*Ctrl-C/);
    const body = JSON.stringify({ input: "Go." });
    const headers = { "content-type": "application/json", prefer: "respond-async" };
    const accepted = await fetch(`${url}/api/runs`, { method: "POST", headers, body });
    expect(accepted.status).toBe(202);
    const run = `${url}${accepted.headers.get("location")}`;
    const getRun = async () => (await fetch(run)).json();

    const first = start("worker");
    await first.waitForOutput(/works on [\s\S]*agents +slow/);
    const listFacts = async () =>
      (await (await fetch(`${run}/events`, { headers: { accept: "application/json" } })).json()).facts;
    const hasType = async (type: string) =>
      (await listFacts()).some((fact: { type: string }) => fact.type === type);
    await expect.poll(() => hasType("tool_call_start")).toBe(true);
    first.child.kill("SIGKILL");
    await first.exit;

    const second = start("worker");
    await second.waitForOutput(/works on/);
    await expect.poll(() => hasType("recovered")).toBe(true);
    project?.write("go", "");
    await expect.poll(getRun).toMatchObject({
      state: "ended",
      result: { status: "done", text: `Executed by ${second.child.pid}` },
    });
    second.child.kill("SIGTERM");
    expect(await second.exit).toBe(0);
  });

  it("is not ready while it drains, finishes or releases its runs, and exits with 0 (F82)", async () => {
    project = createScratchProject({ "capstan.config.ts": config });
    const server = start("serve", "--no-work", "--port", "0", "--trust");
    const [, url = ""] = await server.waitForOutput(/listens on (http:\/\/\S+)\n[\s\S]*Ctrl-C/);
    const headers = { "content-type": "application/json", prefer: "respond-async" };
    const send = () =>
      fetch(`${url}/api/runs`, { method: "POST", headers, body: JSON.stringify({ input: "Go." }) });
    const run = `${url}${(await send()).headers.get("location")}`;
    const worker = startCli(["worker"], { ...project, env: { ...project.env, CAPSTAN_HEALTH_PORT: "0" } });
    started.push(worker);
    const [, port] = await worker.waitForOutput(/health +port (\d+)/);
    const readMetrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    await expect.poll(readMetrics).toContain("capstan_runs_at_work 1\n");
    worker.child.kill("SIGTERM");
    const readStatus = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).json();
    await expect.poll(readStatus).toEqual({ status: "not ready", failed: ["draining"] });
    const later = `${url}${(await send()).headers.get("location")}`;
    project.write("go", "");
    expect(await worker.exit).toBe(0);
    const getState = async (path: string) => (await (await fetch(path)).json()).state;
    expect(await getState(later)).toBe("active"); // it took no further run
    start("worker");
    for (const path of [run, later]) await expect.poll(() => getState(path)).toBe("ended");
  });

  it("answers probes and metrics on its health port only, the metrics for admins", async () => {
    project = createScratchProject({ "capstan.config.ts": config });
    const apiKey = "canary-operator-key-0123456789";
    const env = { ...project.env, CAPSTAN_HEALTH_PORT: "0", CAPSTAN_API_KEY: apiKey };
    const cli = startCli(["worker", "--trust"], { ...project, env });
    started.push(cli);
    const [, port] = await cli.waitForOutput(/health +port (\d+)/);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${port}/api/runs`)).status).toBe(404);
    expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(401);
    const headers = { authorization: `Bearer ${apiKey}` };
    const metrics = await fetch(`http://127.0.0.1:${port}/metrics`, { headers });
    expect(await metrics.text()).toContain('capstan_runs{state="active"} 0\n');
    cli.child.kill("SIGTERM");
    expect(await cli.exit).toBe(0);
  });
});
