import fc from "fast-check";
import { expect, it, vi } from "vitest";
import type { BusMessage } from "../../buses/delta-bus.ts";
import type { PositionedDelta } from "../../runtime/store.ts";
import { createOutbox } from "./outbox.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

function piece(delta: string, sessionId = "s"): PositionedDelta {
  return { after: 1, delta: { type: "content_delta", delta, runId: "r", sessionId, agent: "a", turn: 1 } };
}

function recorded() {
  const sent: unknown[][] = [];
  const sizes: number[] = [];
  const publish = async (messages: readonly BusMessage[]) => {
    sizes.push(...messages.map(({ text }) => bytesOf(text)));
    sent.push(...messages.map(({ text }) => JSON.parse(text)));
  };
  const outbox = createOutbox({ origin: "me", bus: { publish } });
  const live = () => sent.flatMap(([_from, _number, _topic, type, ...rest]) => (type === "live" ? rest : []));
  return { outbox, sent, sizes, live };
}

it("deltas are sent in order, in unique payloads within the size limit", async () => {
  const texts = fc.array(fc.string({ unit: "binary", maxLength: 3_000 }), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(texts, async (given) => {
      const { outbox, sent, sizes, live } = recorded();
      const same = "s".repeat(7_000); // each fills a payload
      const pieces = [...given, same, same].map((text) => piece(text));
      outbox.addDeltas("s", pieces.slice(0, 3));
      outbox.addDeltas("s", pieces.slice(3));
      await outbox.flush();
      expect(live()).toEqual(pieces);
      expect(Math.max(...sizes)).toBeLessThan(8_000);
      expect(new Set(sent.map((payload) => JSON.stringify(payload))).size).toBe(sent.length);
    }),
    { numRuns: 30 },
  );
});

it("a delta that is too large is dropped, and readers notice a gap in the numbers", async () => {
  const { outbox, sent, live } = recorded();
  outbox.addDeltas("s", [piece("first")]);
  await outbox.flush();
  outbox.addDeltas("s", [piece("a"), piece("ä".repeat(4_000)), piece("b")]);
  await outbox.flush();
  expect(live()).toEqual([piece("first"), piece("a"), piece("b")]);
  expect(sent.map(([, number]) => number)).toEqual([1, 3]);
});

it("a slow server causes dropped deltas, not memory growth", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let bytes = 0;
  const publish = async (messages: readonly BusMessage[]) => {
    bytes += messages.reduce((sum, { text }) => sum + text.length, 0);
    await promise;
  };
  const outbox = createOutbox({ origin: "me", bus: { publish } });
  outbox.addDeltas("s", [piece("first")]);
  const first = outbox.flush();
  for (let index = 0; index < 2_000; index++) outbox.addDeltas("s", [piece("x".repeat(1_000))]);
  resolve();
  await first;
  await outbox.flush();
  expect(bytes).toBeLessThan(400_000);
});

it("notices of all topics are sent in one batch, in order, each topic numbered on its own; the last facts count", async () => {
  const { outbox, sent } = recorded();
  outbox.addDeltas("s", [piece("a")]);
  outbox.add("s", ["facts", 2]);
  outbox.add("s", ["facts", 3]);
  outbox.add("t", ["message", "r"]);
  outbox.addDeltas("s", [piece("b")]);
  outbox.add("s", ["facts", 4]);
  await vi.waitFor(() => expect(sent).toHaveLength(5)); // without a flush
  expect(sent).toEqual([
    ["me", 1, "s", "live", piece("a")],
    ["me", 2, "s", "facts", 3],
    ["me", 3, "s", "live", piece("b")],
    ["me", 4, "s", "facts", 4],
    ["me", 1, "t", "message", "r"],
  ]);
});

it("while a batch is being sent, the next one waits, also after a failure", async () => {
  const batches: BusMessage[][] = [];
  const blocked = Promise.withResolvers<void>();
  const publish = async (messages: readonly BusMessage[]) => {
    batches.push([...messages]);
    if (batches.length === 1) await blocked.promise;
  };
  const outbox = createOutbox({ origin: "me", bus: { publish } });
  outbox.add("s", ["facts", 1]);
  const first = outbox.flush();
  for (const topic of ["s", "t", "u"]) outbox.add(topic, ["facts", 2]);
  const second = outbox.flush();
  expect(batches).toHaveLength(1);
  blocked.reject(new Error("The server is gone."));
  await Promise.all([first, second]);
  expect(batches.map(({ length }) => length)).toEqual([1, 3]);
});
