import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { createScratchProject, startCli } from "../testing/cli-process.ts";

const secret = "canary-telemetry-key-93b1";

const config = `
import { defineConfig } from "@capstan/cli";
import { defineAgent, defineTool } from "capstan";
import { scriptedModel } from "capstan/testing";
const tell = defineTool({
  name: "tell",
  description: "Tells",
  input: { type: "object", properties: {} },
  execute: () => "the key is ${secret}",
});
const model = scriptedModel([{ calls: [{ name: "tell" }] }, { text: "${secret}" }]);
export default defineConfig({ agents: [defineAgent({ name: "teller", model, tools: [tell] })] });
`;

/** Receives spans, and gives what came as text. */
async function receiver(): Promise<{ url: string; text(): string; headers(): string }> {
  let text = "";
  let headers = "";
  const server = createServer(async (request, response) => {
    headers += JSON.stringify(request.headers);
    for await (const piece of request) text += (piece as Buffer).toString("latin1");
    response.end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, text: () => text, headers: () => headers };
}

it("capstan serve sends spans to the configured endpoint, all of them before it exits, and no secret (A113)", async () => {
  const spans = await receiver();
  const { folder, env, remove } = createScratchProject({ "capstan.config.ts": config });
  const cli = startCli(["serve", "--port", "0", "--trust"], {
    folder,
    env: {
      ...env,
      OTEL_EXPORTER_OTLP_ENDPOINT: spans.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${secret}`,
      OTEL_SERVICE_NAME: "quay",
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true",
    },
  });
  onTestFinished(async () => {
    cli.child.kill("SIGKILL");
    await cli.exit;
    remove();
  });
  const [, url] = await cli.waitForOutput(/listens on (http:\/\/\S+)\n/);
  const answer = await fetch(`${url}/api/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "Go" }] }),
  });
  await answer.text();
  const metrics = await (await fetch(`${url}/metrics`)).text();
  cli.child.kill("SIGTERM");
  expect(await cli.exit).toBe(0);
  expect(spans.headers()).toContain(secret);
  for (const word of ["quay", "invoke_agent teller", "execute_tool tell", "the key is ***"])
    expect(spans.text()).toContain(word);
  expect(spans.text()).not.toContain(secret);
  expect(metrics).toContain('capstan_tool_calls_total{gen_ai_tool_name="tell",status="ok"} 1');
  expect(metrics + cli.stdout() + cli.stderr()).not.toContain(secret);
});
