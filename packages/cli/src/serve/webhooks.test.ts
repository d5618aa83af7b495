import { createHmac } from "node:crypto";
import { afterEach, expect, it } from "vitest";
import { runCli } from "../testing/cli-in-process.ts";
import {
  type CliProcess,
  createScratchProject,
  type ScratchProject,
  startCli,
} from "../testing/cli-process.ts";

const config = `
import { defineConfig } from "@capstan/cli";
import { defineAgent } from "capstan";
import { offline } from "capstan/models/offline";
export default defineConfig({
  agents: [defineAgent({ name: "desk", model: offline() })],
  webhooks: { issues: { provider: "github", secret: process.env.ISSUES_SECRET, toText: ({ payload }) => payload.text } },
});
`;
const secret = "a secret of GitHub's webhook";

let project: ScratchProject;
let cli: CliProcess | undefined;
afterEach(async () => {
  cli?.child.kill("SIGKILL");
  await cli?.exit;
  project.remove();
});

it("capstan serve answers a signed webhook without a key or a network, and prints where", async () => {
  project = createScratchProject({ "capstan.config.ts": config });
  const env = { ...project.env, ISSUES_SECRET: secret };
  cli = startCli(["serve", "--port", "0", "--trust"], { folder: project.folder, env });
  const [, url = ""] = await cli.waitForOutput(/listens on (http:\/\/\S+)\n[\s\S]*Ctrl-C/);
  expect(cli.stdout()).toContain(`webhook   ${url}/webhooks/issues (github)`);
  expect(cli.stdout()).not.toContain(secret);
  const body = JSON.stringify({ text: "Hello" });
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  const headers = { "content-type": "application/json", "x-hub-signature-256": `sha256=${signature}` };
  const response = await fetch(`${url}/webhooks/issues`, { method: "POST", headers, body });
  expect(response.status).toBe(202);
  const { runId } = await response.json();
  const getRun = async () => (await fetch(`${url}/api/runs/${runId}`)).json();
  await expect.poll(async () => (await getRun()).result?.status, { timeout: 30_000 }).toBe("done");
  expect((await getRun()).result.text).not.toBe("");
  const listed = await (await fetch(`${url}/api/runs?tag=webhook:issues`)).json();
  expect(listed.runs).toMatchObject([{ runId, title: "Hello", agent: "desk" }]);
});

it("capstan doctor says which webhook has no secret", async () => {
  project = createScratchProject({ "capstan.config.ts": config });
  const { code, stdout } = await runCli(["doctor", "--trust"], project);
  expect(code).toBe(1);
  expect(stdout).toContain('✗ Webhook issues: The webhook "issues" needs a `secret`.');
  expect(stdout).toContain("Set the variable that it comes from");
});
