import fc from "fast-check";
import { expect, it } from "vitest";
import type { PositionedDelta } from "../../store.ts";
import { createOutbox } from "./outbox.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

function piece(delta: string, sessionId = "s"): PositionedDelta {
  return { after: 1, delta: { type: "content_delta", delta, runId: "r", sessionId, agent: "a", turn: 1 } };
}

function recorded() {
  const sent: unknown[][] = [];
  const sizes: number[] = [];
  const outbox = createOutbox("me", async (payloads) => {
    sizes.push(...payloads.map(bytesOf));
    sent.push(...payloads.map((payload) => JSON.parse(payload)));
  });
  const live = () =>
    sent.flatMap(([type, _from, _session, _number, ...pieces]) => (type === "live" ? pieces : []));
  return { outbox, sent, sizes, live };
}

it("deltas are sent in order, in unique payloads within the size limit", async () => {
  const texts = fc.array(fc.string({ unit: "binary", maxLength: 3_000 }), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(texts, async (given) => {
      const { outbox, sent, sizes, live } = recorded();
      const same = "s".repeat(7_000); // each fills a payload
      const pieces = [...given, same, same].map((text) => piece(text));
      outbox.add("s", pieces.slice(0, 3));
      outbox.add("s", pieces.slice(3));
      await outbox.flush();
      expect(live()).toEqual(pieces);
      expect(Math.max(...sizes)).toBeLessThan(8_000);
      expect(new Set(sent.map((payload) => JSON.stringify(payload))).size).toBe(sent.length);
    }),
    { numRuns: 30 },
  );
});

it("a delta that is too large is dropped, and readers are notified of facts", async () => {
  const { outbox, sent, live } = recorded();
  outbox.add("s", [piece("a"), piece("ä".repeat(4_000)), piece("b")]);
  await outbox.flush();
  expect(sent[0]).toEqual(["facts", "me", "s"]);
  expect(live()).toEqual([piece("a"), piece("b")]);
});

it("a slow server causes dropped deltas, not memory growth", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let bytes = 0;
  const outbox = createOutbox("me", async (payloads) => {
    bytes += payloads.reduce((sum, payload) => sum + payload.length, 0);
    await promise;
  });
  outbox.add("s", [piece("first")]);
  const first = outbox.flush();
  for (let index = 0; index < 2_000; index++) outbox.add("s", [piece("x".repeat(1_000))]);
  resolve();
  await first;
  await outbox.flush();
  expect(bytes).toBeLessThan(400_000);
});

it("queued deltas of a session are taken before its facts, after payloads in flight", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const order: string[] = [];
  const outbox = createOutbox("me", async () => {
    await promise;
    order.push("sent");
  });
  outbox.add("s", [piece("a")]);
  outbox.add("t", [piece("b", "t")]);
  const flushed = outbox.flush();
  outbox.add("s", [piece("c")]);
  const taken = outbox.take("s").then((payloads) => {
    order.push("taken");
    return payloads;
  });
  expect(await outbox.take("u")).toEqual([]);
  resolve();
  expect((await taken).map((payload) => JSON.parse(payload).slice(4))).toEqual([[piece("c")]]);
  await flushed;
  expect(order).toEqual(["sent", "taken"]);
});
