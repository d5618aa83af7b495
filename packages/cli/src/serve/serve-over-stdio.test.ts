import { afterEach, expect, it } from "vitest";
import {
  type CliProcess,
  createScratchProject,
  type ScratchProject,
  startCli,
} from "../testing/cli-process.ts";

/** A configuration that talks when it is imported, and a tool that talks when it is used. */
const talkative = `
import { defineConfig } from "@capstan/cli";
import { defineAgent, defineTool } from "capstan";
import { scriptedModel } from "capstan/testing";
console.log("loaded the configuration");
process.stdout.write("and more\\n");
const chatter = defineTool({
  name: "chatter",
  description: "Talks",
  input: { type: "object", properties: {} },
  effects: "none",
  execute() {
    console.log("a tool says something");
    return "done";
  },
});
const model = scriptedModel(({ history }) =>
  history.at(-1).type === "result" ? { text: "It has talked." } : { calls: [{ name: "chatter", input: {} }] },
);
export default defineConfig({ agents: [defineAgent({ name: "talker", model, tools: [chatter] })] });
`;

let project: ScratchProject;
let cli: CliProcess | undefined;
afterEach(async () => {
  cli?.child.kill("SIGKILL");
  await cli?.exit;
  project.remove();
});

it("capstan mcp answers a client over stdio, and stdout carries only the protocol, even if a tool or the config prints (S4-53, S4-54)", async () => {
  project = createScratchProject({ "capstan.config.ts": talkative });
  const env = { ...project.env, CAPSTAN_DEBUG: "1" };
  cli = startCli(["mcp", "--trust"], { folder: project.folder, env });
  const send = (message: object) =>
    cli?.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "test", version: "1" };
  send({
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
  });
  await cli.waitForOutput(/"id":1/);
  send({ method: "notifications/initialized" });
  send({ id: 2, method: "tools/call", params: { name: "query", arguments: { prompt: "Talk" } } });
  await cli.waitForOutput(/It has talked\./);
  cli.child.stdin.end();
  expect(await cli.exit).toBe(0);
  const lines = cli.stdout().trim().split("\n");
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
  expect(cli.stderr()).toMatch(/loaded the configuration\nand more\n[\s\S]*a tool says something/);
});
