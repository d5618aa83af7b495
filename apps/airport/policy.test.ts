import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "@capstan/server";
import { type Json, type Model, type ResultEntry, run } from "capstan";
import { anthropic } from "capstan/models/anthropic";
import { azure } from "capstan/models/azure";
import { bedrock } from "capstan/models/bedrock";
import { compatible } from "capstan/models/compatible";
import { gemini } from "capstan/models/gemini";
import { openai } from "capstan/models/openai";
import { textDialect } from "capstan/models/text-dialect";
import { vertex } from "capstan/models/vertex";
import { memory } from "capstan/stores/memory";
import { type Script, scriptedModel } from "capstan/testing";
import { afterAll, describe, expect, it } from "vitest";
import {
  anthropicEncoder,
  type Encoder,
  geminiEncoder,
  openAiChatEncoder,
  openAiResponsesEncoder,
} from "../../packages/capstan/src/testing/wire-encoders.ts";
import { airport } from "./agent.ts";
import { fileBookmarks } from "./bookmarks.ts";
import { loadVenue } from "./load-venue.ts";

const folder = mkdtempSync(join(tmpdir(), "capstan-airport-"));
afterAll(() => rmSync(folder, { recursive: true }));

const venue = await loadVenue();
const getPoiId = (name: string): number =>
  venue.places.find(({ aliases }) => aliases.includes(name))?.poiId ?? 0;
const createAirport = (model: Model) => airport({ model, bookmarks: fileBookmarks(folder) });

/** Sends a message to the app on a server and returns the stream as a client reads it. */
async function chat(script: Script, content: string) {
  const model = scriptedModel(script);
  const server = createServer({ agents: [await createAirport(model)], store: memory() });
  const request = new Request("http://127.0.0.1/api/chat", {
    method: "POST",
    headers: { host: "127.0.0.1", "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content }] }),
  });
  const stream = await (await server.fetch(request)).text();
  return { model, stream };
}

async function callTool(name: string, input: { [key: string]: Json }) {
  const model = scriptedModel([{ calls: [{ name, input }] }, { text: "Done." }]);
  const { history } = await run(await createAirport(model), "Go.", { store: memory() });
  const result = history.find((entry): entry is ResultEntry => entry.type === "result");
  return { result, sent: JSON.stringify(model.requests[1]?.history) };
}

describe("the airport on a server", () => {
  it("says at the limit that it was reached, and asks for more (S0-08, S0-15)", async () => {
    const { model, stream } = await chat(
      (_, turn) => ({ calls: [{ name: "search", input: { term: `gate A${turn + 1}` } }] }),
      "Find me something.",
    );
    expect(model.requests).toHaveLength(10);
    expect(stream).toContain("The limit of 10 turns was reached. I tried search");
    expect(stream).toContain("Could you tell me a little more");
  });

  it("shows no text that the model writes next to calls, and does not send it back (S0-14, C-16)", async () => {
    const { model, stream } = await chat(
      [
        { text: "Let me search first.", calls: [{ name: "search", input: { term: "D15" } }] },
        { text: "Gate D15 is in Concourse D." },
      ],
      "Where is D15?",
    );
    expect(stream).toContain("Gate D15 is in Concourse D.");
    expect(stream).not.toContain("Let me search");
    expect(JSON.stringify(model.requests)).not.toContain("Let me search");
  });
});

describe("directions through several stops", () => {
  const names = ["A1", "D15", "A17", "B44", "D2"];
  const waypoints = names.map(getPoiId);

  it("visit them in the shortest order on request (S0-51)", async () => {
    const asGiven = await callTool("showDirections", { waypoints });
    const shortest = await callTool("showDirections", { waypoints, shortestOrder: true });
    expect(asGiven.result?.data).toMatchObject({ via: ["Gate D15", "Gate A17", "Gate B44"] });
    expect(shortest.result?.data).toMatchObject({
      from: "Gate A1",
      via: ["Gate A17", "Gate B44", "Gate D15"],
      to: "Gate D2",
    });
    const [long, short] = [asGiven, shortest].map(({ result }) =>
      Reflect.get(Object(result?.data), "distance"),
    );
    expect(short).toBeLessThan(long);
    expect(shortest.result?.ui).toMatchObject({
      props: { pins: ["A1", "A17", "B44", "D15", "D2"].map((name) => ({ label: `Gate ${name}` })) },
    });
  });

  it("reach the model whole, however long they are (C-22)", async () => {
    const stops = ["A1", "D15", "A24", "D1", "A3", "D18", "A2", "D9", "A8", "D7", "A10", "D2"];
    const { result, sent } = await callTool("showDirections", { waypoints: stops.map(getPoiId) });
    const steps: readonly string[] = Reflect.get(Object(result?.data), "steps");
    expect(JSON.stringify(result?.data).length).toBeGreaterThan(4000);
    expect(result?.handle).toBeUndefined();
    expect(sent).toContain(steps.at(-1));
  });
});

describe("the temperature of 0.7 (S0-24)", () => {
  const wires: {
    readonly [provider: string]: [Encoder, (options: { apiKey: string; fetch: typeof fetch }) => Model];
  } = {
    "OpenAI chat": [openAiChatEncoder, (options) => openai({ api: "chat", model: "gpt-4o", ...options })],
    "OpenAI responses": [openAiResponsesEncoder, (options) => openai({ model: "gpt-4.1", ...options })],
    Azure: [openAiResponsesEncoder, (options) => azure({ model: "gpt-4o", resource: "harbor", ...options })],
    Ollama: [
      openAiChatEncoder,
      (options) => compatible({ model: "llama3.1", baseURL: "http://127.0.0.1:11434/v1", ...options }),
    ],
    "text dialect": [
      openAiChatEncoder,
      (options) => textDialect(openai({ api: "chat", model: "gpt-4o", ...options })),
    ],
    Anthropic: [anthropicEncoder, (options) => anthropic({ model: "claude-haiku-4-5", ...options })],
    Bedrock: [
      openAiChatEncoder,
      (options) => bedrock({ model: "openai.gpt-oss-120b-1:0", region: "eu-north-1", ...options }),
    ],
    Vertex: [
      geminiEncoder,
      ({ fetch }) => vertex({ model: "gemini-3.5-flash", project: "harbor", token: () => "key", fetch }),
    ],
    Gemini: [geminiEncoder, (options) => gemini({ model: "gemini-3.5-flash", ...options })],
  };

  it.each(Object.entries(wires))("reaches %s", async (_, [encoder, createModel]) => {
    const bodies: { temperature?: number; generationConfig?: { temperature?: number } }[] = [];
    const { body: events, end } = encoder.encode({ text: "Hello." });
    const send: typeof fetch = async (_url, init) => {
      bodies.push(JSON.parse(String(init?.body)));
      return new Response(events + end, { headers: { "content-type": "text/event-stream" } });
    };
    const agent = await createAirport(createModel({ apiKey: "key", fetch: send }));
    expect((await run(agent, "Hi", { store: memory() })).text).toBe("Hello.");
    const sent = bodies.map(
      ({ temperature, generationConfig }) => temperature ?? generationConfig?.temperature,
    );
    expect(sent).toEqual([0.7]);
  });
});
