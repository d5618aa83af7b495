import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type ListeningServer, listen } from "@capstan/server";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { files } from "./agent.ts";
import { createSlowReader } from "./testing/slow-reader.ts";

let folder: string;
let listening: ListeningServer;
/** Holds back the model's second response until resolved. */
let gate: PromiseWithResolvers<void>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "capstan-files-"));
  cpSync(join(import.meta.dirname, "sample"), folder, { recursive: true });
  gate = Promise.withResolvers();
  const agent = await files({ model: createSlowReader(gate.promise), root: folder, studio: true });
  listening = await listen(createServer({ agents: [agent] }), { port: 0 });
});
afterEach(async () => {
  gate.resolve();
  await listening.close(0);
  rmSync(folder, { recursive: true });
});

type Frame = {
  readonly id?: string;
  readonly event: string;
  readonly data: { readonly [readField: string]: unknown };
};

async function post(path: string, body: object): Promise<{ readonly runId: string }> {
  const response = await fetch(`${listening.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return response.json();
}

/** Reads the events after `after` until `isLast` matches, then disconnects. */
async function readFrames(
  runId: string,
  isLast: (frame: Frame) => boolean,
  after?: string,
): Promise<Frame[]> {
  const disconnect = new AbortController();
  const response = await fetch(`${listening.url}/api/runs/${runId}/events`, {
    headers: after === undefined ? {} : { "last-event-id": after },
    signal: disconnect.signal,
  });
  const frames: Frame[] = [];
  let rest = "";
  try {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      const pieces = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
      rest = pieces.pop() ?? "";
      for (const piece of pieces.filter((text) => text.includes("data:"))) {
        const readField = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(piece)?.[1];
        const id = readField("id");
        const frame = {
          ...(id !== undefined && { id }),
          event: readField("event") ?? "",
          data: JSON.parse(readField("data") ?? "{}"),
        };
        frames.push(frame);
        if (isLast(frame)) return frames;
      }
    }
    return frames;
  } finally {
    disconnect.abort();
  }
}

const filterFacts = (frames: readonly Frame[]) => frames.filter(({ id }) => id !== undefined);
const isFirstResult = ({ event, data }: Frame) => event === "tool_call_result" && data.id === "call_a";
const isDone = ({ event }: Frame) => event === "done";

describe("scenario: a connection lost mid-run", () => {
  it("continues after Last-Event-ID without losing or repeating events (S1-34, F81)", async () => {
    const { runId } = await post("/api/runs", { input: "What's in sample.txt?" });
    const seen = filterFacts(await readFrames(runId, isFirstResult));
    gate.resolve();
    const rest = await readFrames(runId, isDone, seen.at(-1)?.id);
    const ids = [...seen, ...filterFacts(rest)].map(({ id }) => Number(id));
    expect(ids).toEqual(Array.from({ length: ids.length }, (_, index) => index + 1));
    const whole = filterFacts(await readFrames(runId, isDone));
    expect([...seen, ...filterFacts(rest)]).toEqual(whole);
    expect(whole.filter(isDone)).toHaveLength(1);
    expect(whole.map(({ event }) => event).filter((event) => event.startsWith("tool_call"))).toEqual([
      "tool_call_start",
      "tool_call_result",
      "tool_call_start",
      "tool_call_result",
    ]);
  });

  it("can be stopped on the resumed stream", async () => {
    const { runId } = await post("/api/runs", { input: "What's in sample.txt?" });
    const seen = filterFacts(await readFrames(runId, isFirstResult));
    const resumed = readFrames(runId, isDone, seen.at(-1)?.id);
    await post(`/api/runs/${runId}/cancel`, {});
    const rest = await resumed;
    expect(rest.at(-1)?.data).toMatchObject({ type: "done", status: "cancelled" });
    expect(rest.some(({ data }) => data.id === "call_b")).toBe(false);
  });
});
