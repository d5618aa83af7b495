import { describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import { type Delta, type DeltaBody, type Event, type Fact, isFact } from "../kernel/event.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { createEventStream } from "./event-stream.ts";
import { run } from "./run.ts";

const origin = { runId: "r", sessionId: "s", agent: "a", turn: 1 };
const delta = (body: DeltaBody): Delta => ({ ...body, ...origin });
const text = (value: string): Delta => delta({ type: "content_delta", delta: value });
const warning = (seq: number): Fact => ({
  ...{ type: "warning", code: "w", message: `${seq}` },
  ...{ ...origin, seq, at: 0, id: `w${seq}` },
});

async function readAll(reader: AsyncIterable<Event>): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of reader) events.push(event);
  return events;
}

/** Returns the text a viewer would show: everything since the last restart. */
const joinText = (events: readonly Event[]) =>
  events.reduce((said, event) => {
    if (event.type === "message_restart") return "";
    return event.type === "content_delta" ? said + event.delta : said;
  }, "");

describe("readers", () => {
  it("each reader gets every event, in order, and then the end", async () => {
    const stream = createEventStream();
    const readers = [stream.read(), stream.read()];
    const events = [warning(1), text("a"), text("b"), warning(2)];
    const reading = readers.map(readAll);
    for (const event of events) stream.push(event);
    stream.end();
    expect(await Promise.all(reading)).toEqual([events, events]);
  });

  it("a late reader gets the facts it missed and later events, not the old deltas", async () => {
    const stream = createEventStream();
    for (const event of [warning(1), text("missed"), warning(2)]) stream.push(event);
    const reader = stream.read();
    for (const event of [text("live"), warning(3)]) stream.push(event);
    stream.end();
    expect(await readAll(reader)).toEqual([warning(1), warning(2), text("live"), warning(3)]);
    expect(await readAll(stream.read())).toEqual([warning(1), warning(2), warning(3)]);
  });

  it("an error ends a reader after it has read all pushed events", async () => {
    const stream = createEventStream();
    const reader = stream.read();
    stream.push(warning(1));
    stream.end(new Error("store failed"));
    expect(await reader.next()).toEqual({ done: false, value: warning(1) });
    await expect(reader.next()).rejects.toThrow("store failed");
  });

  it("a reader that stops while waiting is closed and does not delay draining", async () => {
    const stream = createEventStream();
    const reader = stream.read();
    const next = reader.next();
    await reader.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
    await stream.drained();
  });

  it("is drained when every active reader has asked for the next event", async () => {
    const stream = createEventStream();
    stream.push(warning(1));
    await stream.drained();
    const reader = stream.read();
    await stream.drained();
    await reader.next();
    let isDrained = false;
    const drained = stream.drained().then(() => {
      isDrained = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(isDrained).toBe(false);
    void reader.next();
    await drained;
    expect(isDrained).toBe(true);
  });
});

describe("a slow reader", () => {
  it("has a bounded buffer and loses no text", async () => {
    const stream = createEventStream();
    const reader = stream.read();
    const pieces = Array.from({ length: 50_000 }, (_, index) => `${index} `);
    for (const piece of pieces) stream.push(text(piece));
    stream.end();
    const events = await readAll(reader);
    expect(events.length).toBeLessThanOrEqual(1024);
    expect(joinText(events)).toBe(pieces.join(""));
  });

  it("gets every fact in order, each with the text before it", async () => {
    const stream = createEventStream();
    const reader = stream.read();
    let said = "";
    const saidBefore: string[] = [];
    for (let seq = 1; seq <= 20; seq++) {
      for (let piece = 0; piece < 500; piece++) {
        stream.push(text(`${seq}.${piece} `));
        said += `${seq}.${piece} `;
      }
      stream.push(warning(seq));
      saidBefore.push(said);
    }
    stream.end();
    const events = await readAll(reader);
    expect(events.length).toBeLessThanOrEqual(1024 + 2 * 20);
    expect(events.filter(isFact).map((fact) => fact.seq)).toEqual(
      Array.from({ length: 20 }, (_, n) => n + 1),
    );
    expect(
      events.flatMap((event, index) => (isFact(event) ? [joinText(events.slice(0, index))] : [])),
    ).toEqual(saidBefore);
  });

  it("keeps text, reasoning and the arguments of different calls apart", async () => {
    const stream = createEventStream();
    const reader = stream.read();
    const expected: Record<string, string> = { content: "", reasoning: "", c1: "", c2: "" };
    for (let index = 0; index < 3000; index++) {
      const piece = `${index},`;
      stream.push(text(piece));
      stream.push(delta({ type: "reasoning_delta", delta: piece }));
      for (const id of ["c1", "c2"]) {
        stream.push(delta({ type: "tool_call_delta", id, name: "look", delta: piece }));
        expected[id] += piece;
      }
      expected.content += piece;
      expected.reasoning += piece;
    }
    stream.end();
    const got: Record<string, string> = { content: "", reasoning: "", c1: "", c2: "" };
    for (const event of await readAll(reader)) {
      if (event.type === "content_delta") got.content += event.delta;
      if (event.type === "reasoning_delta") got.reasoning += event.delta;
      if (event.type === "tool_call_delta") got[event.id] += event.delta;
    }
    expect(got).toEqual(expected);
  });

  it("keeps the text of concurrent nested runs apart and stays bounded", async () => {
    const stream = createEventStream();
    const reader = stream.read();
    const kilobyte = "x".repeat(1024);
    const piece = (runId: string): Delta => ({
      ...text(runId + kilobyte),
      runId,
      parentRunId: "r",
      parentCallId: "c",
    });
    for (let index = 0; index < 5000; index++) stream.push(piece(index % 2 === 0 ? "a" : "b"));
    stream.end();
    const events = await readAll(reader);
    expect(events.length).toBeLessThan(1100);
    for (const runId of ["a", "b"])
      expect(joinText(events.filter((event) => event.runId === runId))).toBe((runId + kilobyte).repeat(2500));
  });

  it("gets the latest progress of each call", async () => {
    const stream = createEventStream();
    const reader = stream.read();
    for (let percent = 0; percent < 5000; percent++)
      for (const id of ["c1", "c2"]) stream.push(delta({ type: "tool_progress", id, data: percent }));
    stream.end();
    const events = await readAll(reader);
    expect(events.length).toBeLessThanOrEqual(1024);
    for (const id of ["c1", "c2"])
      expect(events.findLast((event) => event.type === "tool_progress" && event.id === id)).toMatchObject({
        data: 4999,
      });
  });

  it("does not lose text after a restart", async () => {
    const stream = createEventStream();
    const reader = stream.read();
    for (let index = 0; index < 2000; index++) stream.push(text("void "));
    stream.push(delta({ type: "message_restart", reason: "model_failed" }));
    for (let index = 0; index < 2000; index++) stream.push(text("said "));
    stream.end();
    const words = Map.groupBy(
      joinText(await readAll(reader))
        .trim()
        .split(" "),
      (word) => word,
    );
    expect([...words].map(([word, all]) => [word, all.length])).toEqual([["said", 2000]]);
  });

  it("does not slow the run, and reads the whole answer afterwards", async () => {
    const answer = Array.from({ length: 2000 }, (_, index) => `${index} `).join("");
    const agent = defineAgent({ name: "a", model: scriptedModel([{ text: answer, split: 2 }]) });
    const started = run(agent, "Count.");
    const reader = started[Symbol.asyncIterator]();
    const first = await reader.next();
    expect((await started).text).toBe(answer.trim());
    const events = [first.value as Event, ...(await readAll({ [Symbol.asyncIterator]: () => reader }))];
    expect(events.length).toBeLessThan(1024 + 10);
    expect(joinText(events)).toBe(answer);
    expect(events.at(-1)?.type).toBe("done");
  });
});
