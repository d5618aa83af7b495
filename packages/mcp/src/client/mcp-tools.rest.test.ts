import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { defineAgent, run } from "capstan";
import { collect, type ScriptedStep, scriptedModel } from "capstan/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type McpTools, mcpTools } from "./mcp-tools.ts";
import { waitUntil } from "./testing/test-servers.ts";

const inputSchema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const tools = ["weather", "broken", "slow", "html", "list", "away", "large"].map((name) => ({
  ...{ name, description: `The ${name}.`, inputSchema },
}));

type Heard = { readonly url: string | undefined; readonly key: unknown; readonly body: unknown };

/** What was asked of the server, and how many requests have ended without an answer. */
const heard: Heard[] = [];
let gone = 0;

/** The seed's form of a server: two addresses and JSON, no protocol. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = JSON.parse(await text(request)) as { name?: string; arguments?: { city?: string } };
  heard.push({ url: request.url, key: request.headers["x-key"], body });
  const { name = "", arguments: input = {} } = body;
  if (request.url === "/api/tools/list") response.end(JSON.stringify({ tools }));
  else if (request.url !== "/api/tools/call") response.writeHead(404).end();
  else if (name === "weather")
    response.end(JSON.stringify({ content: [{ type: "text", text: `${input.city}: 7 °C` }] }));
  else if (name === "broken") response.writeHead(503).end("s3cret");
  else if (name === "html") response.end("<p>s3cret</p>");
  else if (name === "list") response.end("[]");
  else if (name === "away") response.writeHead(307, { location: "/api/tools/list" }).end();
  else if (name === "large") response.end(JSON.stringify({ content: [], x: "x".repeat(11_000_000) }));
  else
    response.on("close", () => {
      gone += 1;
    });
}

async function startListening(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("a plain HTTP server (C-14, S4-45)", () => {
  const plain = createServer((request, response) => void answer(request, response));
  let [host, nobody] = ["", ""];
  let mcp: McpTools;
  beforeAll(async () => {
    host = await startListening(plain);
    const url = `http://${host}/api/`;
    const closed = createServer();
    nobody = await startListening(closed);
    closed.close();
    const rest = { type: "http-rest", url, effects: "none", trust: "metadata" } as const;
    mcp = await mcpTools({
      mcpServers: {
        city: { ...rest, headers: { "x-key": `\${KEY}` }, tools: { slow: { timeout: 300 } } },
        patient: { ...rest, tools: { weather: { enabled: false } } },
        nowhere: { ...rest, url: `http://${nobody}/` },
        wrong: { ...rest, url: `http://${host}/other` },
      },
      variables: { KEY: "k-1" },
    });
  });
  afterAll(async () => {
    await mcp.close();
    plain.closeAllConnections();
    plain.close();
  });

  const running = (name: string) => {
    const steps: ScriptedStep[] = [{ calls: [{ name, input: { city: "Oslo" } }] }, { text: "Ready." }];
    const agent = defineAgent({ name: "helper", model: scriptedModel(steps), tools: mcp.tools });
    return run(agent, "Go.", { policy: { retry: { maxAttempts: 1 } } });
  };
  const getCallResult = async (tool: string) => {
    const { facts } = await collect(running(`mcp_city_${tool}`));
    return facts.find(({ type }) => type === "tool_call_result");
  };

  it("has tools like any other", () => {
    expect(mcp.status()[0]).toMatchObject({ name: "city", state: "ready", problems: [] });
    const weather = mcp.tools.find(({ name }) => name === "mcp_city_weather");
    expect(weather).toMatchObject({ description: "The weather.", effects: "none" });
    expect(weather?.schema.json).toEqual(inputSchema);
  });

  it("receives the name and arguments of a call, and the configured headers", async () => {
    expect(await getCallResult("weather")).toMatchObject({ status: "ok", result: "Oslo: 7 °C" });
    const body = { name: "weather", arguments: { city: "Oslo" } };
    expect(heard.at(-1)).toEqual({ url: "/api/tools/call", key: "k-1", body });
  });

  it.each([
    ["broken", "mcp_disconnected", "returned 503 for /tools/call"],
    ["away", "mcp_disconnected", "returned 307 for /tools/call"],
    ["html", "mcp_protocol", "did not return a JSON object for /tools/call"],
    ["list", "mcp_protocol", "did not return a JSON object for /tools/call"],
    ["large", "mcp_protocol", "larger than 10485760 bytes"],
  ])("fails with a code when its response is %s", async (tool, code, message) => {
    const fact = await getCallResult(tool);
    expect(fact).toMatchObject({
      status: "error",
      error: { code, message: expect.stringContaining(message) },
    });
    expect(JSON.stringify(fact)).not.toContain("s3cret");
  });

  it("has a timeout per call, which aborts the request", async () => {
    const before = gone;
    const fact = await getCallResult("slow");
    const message = '"mcp_city_slow" gave no result within 300 ms.';
    expect(fact).toMatchObject({ status: "error", error: { code: "tool_timeout", message } });
    await waitUntil("the request has ended", () => gone === before + 1);
  });

  it("has its request aborted when the run is cancelled", async () => {
    const before = gone;
    const cancelled = running("mcp_patient_slow");
    const calls = heard.length;
    await waitUntil("the call has arrived", () => heard.length > calls);
    cancelled.cancel("Enough.");
    expect(await cancelled).toMatchObject({ status: "cancelled" });
    await waitUntil("the request has ended", () => gone === before + 1);
  });

  it("that is down or has a wrong address is reported, and the others work (S4-46)", () => {
    const [nowhere, wrong] = mcp.status().slice(2);
    const message = `The server at ${nobody} cannot be reached (ECONNREFUSED).`;
    expect(nowhere).toMatchObject({ tools: [], error: { code: "mcp_disconnected", message } });
    const answered = `The server at ${host} returned 404 for /tools/list.`;
    expect(wrong).toMatchObject({ state: "failed", error: { code: "mcp_disconnected", message: answered } });
  });
});
