import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type ListeningServer, listen } from "@capstan/server";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { files } from "./agent.ts";
import { slowReader } from "./testing/slow-reader.ts";

let folder: string;
let listening: ListeningServer;
/** The second answer of the model is not given before this is opened. */
let gate: PromiseWithResolvers<void>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "capstan-files-"));
  cpSync(join(import.meta.dirname, "sample"), folder, { recursive: true });
  gate = Promise.withResolvers();
  const agent = await files({ model: slowReader(gate.promise), root: folder, studio: true });
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
  readonly data: { readonly [field: string]: unknown };
};

async function post(path: string, body: object): Promise<{ readonly runId: string }> {
  const response = await fetch(`${listening.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return response.json();
}

/** Reads events behind `after` until one of them is the last wanted, then hangs up. */
async function read(runId: string, isLast: (frame: Frame) => boolean, after?: string): Promise<Frame[]> {
  const hangUp = new AbortController();
  const response = await fetch(`${listening.url}/api/runs/${runId}/events`, {
    headers: after === undefined ? {} : { "last-event-id": after },
    signal: hangUp.signal,
  });
  const frames: Frame[] = [];
  let rest = "";
  try {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      const pieces = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
      rest = pieces.pop() ?? "";
      for (const piece of pieces.filter((text) => text.includes("data:"))) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(piece)?.[1];
        const id = field("id");
        const frame = {
          ...(id !== undefined && { id }),
          event: field("event") ?? "",
          data: JSON.parse(field("data") ?? "{}"),
        };
        frames.push(frame);
        if (isLast(frame)) return frames;
      }
    }
    return frames;
  } finally {
    hangUp.abort();
  }
}

const facts = (frames: readonly Frame[]) => frames.filter(({ id }) => id !== undefined);
const isFirstResult = ({ event, data }: Frame) => event === "tool_call_result" && data.id === "call_a";
const isDone = ({ event }: Frame) => event === "done";

describe("scenario: a connection that is lost in mid-run", () => {
  it("is taken up behind Last-Event-ID, and nothing is lost or told twice (S1-34, F81)", async () => {
    const { runId } = await post("/api/runs", { input: "What's in sample.txt?" });
    const seen = facts(await read(runId, isFirstResult));
    gate.resolve();
    const rest = await read(runId, isDone, seen.at(-1)?.id);
    const ids = [...seen, ...facts(rest)].map(({ id }) => Number(id));
    expect(ids).toEqual(Array.from({ length: ids.length }, (_, index) => index + 1));
    const whole = facts(await read(runId, isDone));
    expect([...seen, ...facts(rest)]).toEqual(whole);
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
    const seen = facts(await read(runId, isFirstResult));
    const resumed = read(runId, isDone, seen.at(-1)?.id);
    await post(`/api/runs/${runId}/cancel`, {});
    const rest = await resumed;
    expect(rest.at(-1)?.data).toMatchObject({ type: "done", status: "cancelled" });
    expect(rest.some(({ data }) => data.id === "call_b")).toBe(false);
  });
});
