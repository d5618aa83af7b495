import { existsSync, globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { isRecord } from "../base/json.ts";
import { defineAgent } from "../kernel/agent.ts";
import { addChunk, buildParts, createMessageBuilder } from "../kernel/calls/message-builder.ts";
import type { CallHooks } from "../kernel/io.ts";
import type { Model } from "../kernel/model.ts";
import { defineTool, type Tool } from "../kernel/tool.ts";
import { anthropicMessages } from "../models/anthropic-messages.ts";
import { geminiContent } from "../models/gemini-content.ts";
import { createHttpModel } from "../models/http-model.ts";
import { createChatWire, openAiChat } from "../models/openai-chat.ts";
import { openAiResponses } from "../models/openai-responses.ts";
import type { Wire } from "../models/wire.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { fakeClock } from "./fake-clock.ts";
import {
  anthropicEncoder,
  type Encoder,
  geminiEncoder,
  openAiChatEncoder,
  openAiResponsesEncoder,
} from "./wire-encoders.ts";

const root = fileURLToPath(new URL("../../../../../shared/wire/", import.meta.url));

type Family = {
  readonly wire: Wire;
  readonly encoder: Encoder;
  /** Whether every event carries its response's id. Without ids, only a complete second answer can be detected. */
  readonly hasIds: boolean;
};
const families: Readonly<Record<string, Family>> = {
  "openai-chat": { wire: openAiChat, encoder: openAiChatEncoder, hasIds: true },
  "openai-compat": { wire: createChatWire({}), encoder: openAiChatEncoder, hasIds: true },
  "openai-responses": { wire: openAiResponses, encoder: openAiResponsesEncoder, hasIds: true },
  anthropic: { wire: anthropicMessages, encoder: anthropicEncoder, hasIds: false },
  gemini: { wire: geminiContent, encoder: geminiEncoder, hasIds: true },
};

/** A recorded stream: its events, each with its empty line. */
type Recording = {
  readonly name: string;
  readonly family: string;
  readonly events: readonly string[];
  /** Index of the first event with text or a call. */
  readonly firstOutput: number;
  /** Index of the last event whose id counts: a compatible server may have another one, or none, after the end. */
  readonly lastIdentified: number;
  readonly calledTools: readonly string[];
};
type Outcome = { readonly executed: readonly string[]; readonly status: string; readonly text: string };

/**
 * Splices recorded streams at random: the beginning of one answer and the rest, or all, of another in one stream. The
 * run must end as if it had got one of the two alone, or neither, whatever was streamed before.
 */
export function spliceSuite(count: number, seed: number): void {
  describe.skipIf(!existsSync(`${root}index.json`))("two recorded answers spliced into one stream", () => {
    const recordings = existsSync(`${root}index.json`) ? listRecordings() : [];

    it.each(Object.keys(families))("exist for %s", (family) => {
      expect(recordings.filter((recording) => recording.family === family).length).toBeGreaterThan(5);
    });

    it.each(
      Object.keys(families),
    )("of %s never run a tool twice or early, never mix their texts, and are never half an answer (F15, F22, F85)", async (family) => {
      const own = recordings.filter((recording) => recording.family === family);
      const tools = createTools(own);
      const random = createRandom(seed);
      const alone = new Map<Recording, Outcome>();
      const outcomes = { first: 0, second: 0, neither: 0 };
      for (let done = 0; done < count; done++) {
        const [first, second] = [pick(own, random), pick(own, random)];
        for (const recording of [first, second])
          if (!alone.has(recording)) alone.set(recording, await play(family, recording.events, tools));
        const cut = Math.floor(random() * (first.events.length + 1));
        // Without output before it, the rest of an answer looks like a stream that lacks its beginning.
        const canBeRest = (families[family] as Family).hasIds && cut > first.firstOutput;
        const from = canBeRest && random() < 0.3 ? random() : 0;
        const rest = withOtherId(second).slice(Math.floor(from * (second.lastIdentified + 1)));
        const outcome = await play(family, [...first.events.slice(0, cut), ...rest], tools);
        const place = `${first.name}, ${cut} events, then ${second.name} from ${from}`;
        outcomes[classify(outcome, alone.get(first), alone.get(second), place)] += 1;
      }
      // The splices are not all refused, and not all accepted.
      expect(outcomes.neither).toBeGreaterThan(count / 2);
      expect(outcomes.first + outcomes.second).toBeGreaterThan(0);
    });
  });
}

function classify(
  outcome: Outcome,
  first: Outcome | undefined,
  second: Outcome | undefined,
  place: string,
): "first" | "second" | "neither" {
  const isSame = (other: Outcome | undefined) => JSON.stringify(outcome) === JSON.stringify(other);
  if (isSame(first)) return "first";
  if (isSame(second)) return "second";
  // Refused: asked again, or failed by name. Nothing was executed.
  expect({ executed: outcome.executed, text: outcome.status === "done" ? outcome.text : "" }, place).toEqual({
    executed: [],
    text: outcome.status === "done" ? "Clean." : "",
  });
  expect(["done", "failed"], place).toContain(outcome.status);
  return "neither";
}

/** Runs an agent whose provider sends these events once, and then a clean answer. */
async function play(family: string, events: readonly string[], tools: readonly Tool[]): Promise<Outcome> {
  const { wire, encoder } = families[family] as Family;
  const clean = encoder.encode({ text: "Clean.", id: "clean" });
  const bodies = [events.join(""), clean.body + clean.end];
  let requests = 0;
  const model: Model = createHttpModel({
    ...{ id: family, wire, settings: { model: "recorded" }, circuit: false },
    url: () => "https://recorded.test/",
    headers: () => ({}),
    fetch: async () =>
      new Response(bodies[Math.min(requests++, 1)], { headers: { "content-type": "text/event-stream" } }),
  });
  const executed: string[] = [];
  const agent = defineAgent({
    ...{ name: "a", model, tools: [...tools] },
    policy: { approvals: "allow", gate: "off", maxTurns: 3 },
  });
  const clock = fakeClock({ skipUpToMs: 59_000 }); // retries cost no time, and no call times out
  const hooks: CallHooks = {
    onBeforeTool: ({ name, input }) => void executed.push(`${name} ${JSON.stringify(input)}`),
  };
  const { status, text } = await run(agent, "Go.", { store: memory(), clock, hooks });
  return { executed, status, text };
}

function listRecordings(): Recording[] {
  const read = (file: string): unknown => JSON.parse(readFileSync(root + file, "utf8"));
  type Listed = { readonly file: string; readonly interaction: number; readonly family: string };
  type Session = { readonly interactions: readonly { readonly response: { readonly body: unknown } }[] };
  const listed = (read("expected-from-vendor-sdks.json") as Listed[]).map(({ file, interaction, family }) => {
    const body = String((read(file) as Session).interactions[interaction]?.response.body);
    const events = body.match(/[\s\S]*?(?:\r?\n){2,}/g) ?? [];
    return readRecording({ name: `${file} ${interaction}`, family, events });
  });
  const gemini = globSync("vercel-ai/google/*.chunks.txt", { cwd: root }).map((file) => {
    const lines = readFileSync(root + file, "utf8")
      .split("\n")
      .filter((line) => line.trim() !== "");
    return readRecording({ name: file, family: "gemini", events: lines.map((line) => `data: ${line}\n\n`) });
  });
  // Where the id changes with every event, nothing tells two answers apart.
  return [...listed, ...gemini].filter(
    (recording) => recording.family !== "openai-compat" || countIds(recording) <= 2,
  );
}

function parseEvent(event: string): Record<string, unknown> {
  const data = event.split(/\r?\n/).find((line) => line.startsWith("data:"));
  try {
    const parsed: unknown = JSON.parse(data?.slice(5) ?? "");
    return isRecord(parsed) ? parsed : {};
  } catch {
    return {}; // `[DONE]`
  }
}

const countIds = ({ events }: Recording): number => new Set(events.map((event) => parseEvent(event).id)).size;

/** Gives the second answer another id, even if both are the same recording. */
function withOtherId({ events }: Recording): readonly string[] {
  const first = events.map(parseEvent).find(({ id, responseId }) => id || responseId);
  const id = String(first?.id ?? first?.responseId ?? "");
  return id === "" ? events : events.map((event) => event.replaceAll(`"${id}"`, `"${id}-2"`));
}

/** Reads a recording as the client does. */
function readRecording(head: Pick<Recording, "name" | "family" | "events">): Recording {
  const reader = (families[head.family] as Family).wire.reader();
  const message = createMessageBuilder((id, index) => id ?? `call_${index}`);
  let firstOutput = head.events.length;
  for (const [index, event] of head.events.entries()) {
    const data = event.match(/^data: ?(.*)$/m)?.[1] ?? "";
    const name = event.match(/^event: ?(.*)$/m)?.[1];
    for (const chunk of data === "" ? [] : reader.read({ event: name, data })) addChunk(message, chunk);
    if (message.hasText || message.calls.size > 0) firstOutput = Math.min(firstOutput, index);
  }
  const calledTools = buildParts(message).flatMap((part) => (part.type === "call" ? [part.name] : []));
  const ending = head.events.findLastIndex((event) => /"finish_reason": ?"/.test(event));
  const lastIdentified = head.family === "openai-compat" ? ending : head.events.length - 1;
  return { ...head, firstOutput, lastIdentified, calledTools };
}

/** A tool for every name that a recorded call has. */
function createTools(recordings: readonly Recording[]): readonly Tool[] {
  const names = new Set(recordings.flatMap(({ calledTools }) => calledTools));
  return [...names].map((name) =>
    defineTool({
      ...{ name, description: name, effects: "send" },
      input: { type: "object" },
      execute: () => "Done.",
    }),
  );
}

function pick<Item>(items: readonly Item[], random: () => number): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

/** Numbers from 0 to 1 that are the same in every run of the test. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
