// Runs "hello and one tool call" against a scripted provider on this machine, in memory and over HTTP, and prints as JSON
// which files of the packages executed a function: what a reader has to know to follow one message.
import { createServer, type Server } from "node:http";
import { Session } from "node:inspector/promises";
import type { AddressInfo } from "node:net";
import { createServer as createCapstanServer, listen } from "@capstan/server";
import { defineAgent, defineTool, run } from "capstan";
import { anthropic } from "capstan/models/anthropic";

const question = "Hello! How is the weather in Oslo?";
const turns = [
  createTurn(
    { type: "tool_use", id: "toolu_1", name: "weather", input: {} },
    { type: "input_json_delta", partial_json: '{"city":"Oslo"}' },
    "tool_use",
  ),
  createTurn({ type: "text", text: "" }, { type: "text_delta", text: "7 degrees in Oslo." }, "end_turn"),
];

/** The events of an answer with one block. */
function createTurn(block: object, delta: object, stopReason: string): string {
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "scripted",
    content: [],
    stop_reason: null,
    usage: { input_tokens: 10, output_tokens: 1 },
  };
  const events = [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: stopReason }, usage: { output_tokens: 8 } },
    { type: "message_stop" },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

/** A provider that calls the tool in the first turn and answers in the second. */
async function startProvider(): Promise<Server> {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" }).end(turns[count++ % turns.length]);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

const session = new Session();
session.connect();

/** Returns the files that executed a function since the last call. */
async function takeFiles(): Promise<string[]> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  return result.flatMap(({ url, functions }) => {
    const [, file] = /\/packages\/([^/]+\/src\/.+)$/.exec(url) ?? [];
    return file && functions.some(({ ranges }) => ranges[0]?.count) ? [file] : [];
  });
}

const provider = await startProvider();
const weather = defineTool({
  name: "weather",
  description: "Current weather of a city",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  effects: "none",
  execute: () => "7 degrees",
});
const { port } = provider.address() as AddressInfo;
const model = anthropic({ model: "scripted", apiKey: "none", baseURL: `http://127.0.0.1:${port}` });
const agent = defineAgent({ name: "helper", model, instructions: "Answer briefly.", tools: [weather] });
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

const { text } = await run(agent, question);
const inMemory = await takeFiles();

const listening = await listen(createCapstanServer({ agents: [agent] }), { port: 0 });
await takeFiles();
const started = await fetch(`${listening.url}/api/runs`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ input: question }),
});
const { runId } = (await started.json()) as { runId: string };
const events = await (await fetch(`${listening.url}/api/runs/${runId}/events`)).text();
const overHttp = await takeFiles();

process.stdout.write(JSON.stringify({ text, events, inMemory, overHttp }));
await listening.close();
provider.close();
