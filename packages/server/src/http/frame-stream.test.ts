import { expect, it } from "vitest";
import { streamFrames } from "./frame-stream.ts";

it("keeps a silent connection open with comments, and closes once", async () => {
  const word = Promise.withResolvers<void>();
  const closed: string[] = [];
  async function* frames() {
    yield "data: a\n\n";
    await word.promise;
    yield "data: b\n\n";
  }
  const response = streamFrames({
    frames: frames(),
    clientSignal: new AbortController().signal,
    heartbeatMs: 5,
    onClose: () => closed.push("closed"),
    onDisconnect: () => closed.push("gone"),
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const read = async () => (await reader?.read())?.value;
  expect(await read()).toBe("data: a\n\n");
  expect(await read()).toBe(": still here\n\n");
  word.resolve();
  await expect.poll(read).toBe("data: b\n\n");
  await expect.poll(() => closed).toEqual(["closed"]);
});

it("reports a client that disconnects before the end", async () => {
  const told: string[] = [];
  async function* frames() {
    yield "data: a\n\n";
    yield "data: b\n\n";
  }
  const response = streamFrames({
    frames: frames(),
    clientSignal: new AbortController().signal,
    onDisconnect: () => told.push("gone"),
    onClose: () => told.push("closed"),
  });
  await response.body?.cancel();
  expect(told).toEqual(["closed", "gone"]);
});

it.each([
  "before",
  "after",
])("ends when its client leaves %s the response, though nothing cancels it", async (when) => {
  const told: string[] = [];
  const client = new AbortController();
  async function* frames() {
    yield "data: a\n\n";
    yield "data: b\n\n";
  }
  if (when === "before") client.abort();
  const response = streamFrames({
    ...{ frames: frames(), clientSignal: client.signal },
    onDisconnect: () => told.push("gone"),
    onClose: () => told.push("closed"),
  });
  const reader = response.body?.getReader();
  client.abort();
  expect(told).toEqual(["closed", "gone"]);
  while (!(await reader?.read())?.done);
});
