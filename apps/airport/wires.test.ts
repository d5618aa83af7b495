import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Entry, type Model, run } from "capstan";
import { gemini } from "capstan/models/gemini";
import { offline } from "capstan/models/offline";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterAll, describe, expect, it } from "vitest";
import { createWireClients, type WireStep } from "../../packages/capstan/src/testing/wire-clients.ts";
import { geminiEncoder } from "../../packages/capstan/src/testing/wire-encoders.ts";
import { airport } from "./agent.ts";
import { fileBookmarks } from "./bookmarks.ts";
import { loadVenue } from "./load-venue.ts";
import { toMessages } from "./messages.ts";

const folder = mkdtempSync(join(tmpdir(), "capstan-airport-"));
afterAll(() => rmSync(folder, { recursive: true }));

const venue = await loadVenue();
const getPoiId = (name: string): number =>
  venue.places.find(({ aliases }) => aliases.includes(name))?.poiId ?? 0;

const script: readonly WireStep[] = [
  {
    calls: [
      { name: "search", input: { term: "Terminal 2 checkpoint" } },
      { name: "search", input: { term: "D15" } },
    ],
  },
  {
    calls: [
      { name: "showDirections", input: { waypoints: [getPoiId("Terminal 2 Checkpoint"), getPoiId("D15")] } },
    ],
  },
  { text: "It is 561 metres, about 7 minutes: first through security, then to Concourse D." },
];

async function runWithModel(model: Model): Promise<readonly Entry[]> {
  const agent = await airport({ model, bookmarks: fileBookmarks(folder) });
  const options = { store: memory(), session: "ses_1" };
  const result = await run(agent, "Directions from the Terminal 2 checkpoint to D15", options);
  expect(result.status).toBe("done");
  return normalizeHistory(result.history);
}

/** Renumbers call ids in order of appearance and removes provider-specific fields. */
function normalizeHistory(history: readonly Entry[]): readonly Entry[] {
  const ids = new Map<string, string>();
  const renumberId = (id: string) => ids.get(id) ?? ids.set(id, `call ${ids.size + 1}`).get(id);
  return JSON.parse(
    JSON.stringify(history, (key, value) => {
      if (key === "opaque" || key === "providerId") return undefined;
      if (key === "callId") return renumberId(value);
      return value?.type === "call" ? { ...value, id: renumberId(value.id) } : value;
    }),
  );
}

describe("airport scenario 6: one script, five wires", () => {
  it.each(
    Object.entries(createWireClients(script)),
  )("%s produces the same history as a model without a wire (S0-43, S0-45)", async (_, client) => {
    const expected = await runWithModel(scriptedModel(script));
    const history = await runWithModel(client);
    expect(history).toEqual(expected);
    expect(toMessages(history).map(({ type }) => type)).toEqual([
      "user_input",
      "tool_calls",
      "tool_results",
      "tool_calls",
      "tool_results",
      "assistant_response",
    ]);
  });
});

it("with a key, Gemini receives the contents, the tools, the instructions and a temperature of 0.7 (S0-24)", async () => {
  const bodies: Record<string, unknown>[] = [];
  const { body: events, end } = geminiEncoder.encode({ text: "Hello." });
  const send: typeof fetch = async (_, init) => {
    bodies.push(JSON.parse(String(init?.body)));
    return new Response(events + end, { headers: { "content-type": "text/event-stream" } });
  };
  const model = gemini({ model: "gemini-2.5-flash", apiKey: "key", fetch: send });
  const agent = await airport({ model, bookmarks: fileBookmarks(folder) });
  await run(agent, "Hi", { store: memory() });
  expect(bodies).toMatchObject([
    {
      contents: [{ role: "user", parts: [{ text: "Hi" }] }],
      tools: [{ functionDeclarations: { length: agent.tools.size } }],
      systemInstruction: { parts: [{ text: expect.stringContaining("You are the assistant of Harbor") }] },
      generationConfig: { temperature: 0.7 },
    },
  ]);
});

it("without a key, the temperature changes nothing: the offline model gives the same answer (S0-24)", async () => {
  const agent = await airport({ model: offline(), bookmarks: fileBookmarks(folder) });
  const { settings: _, ...plain } = agent;
  const [withSettings, without] = await Promise.all(
    [agent, plain].map((each) => run(each, "Find sushi", { store: memory() })),
  );
  expect(withSettings?.text).toBe(without?.text);
  expect(withSettings?.status).toBe("done");
});
