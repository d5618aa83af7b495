import { readUIMessageStream, type UIMessage, type UIMessageChunk, uiMessageChunkSchema } from "ai";
import { defineAgent, getText, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { collect, scriptedModel } from "capstan/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import { randomScript, runRandomScript } from "../../testing/random-run.ts";
import { getMissingText } from "../chat/chat-events.ts";
import { createUiMessageStream } from "./ui-message-stream.ts";

it("encodes any run so that the AI SDK accepts it and reads back the same text and calls, also from the facts alone", async () => {
  await fc.assert(
    fc.asyncProperty(randomScript, fc.boolean(), async (script, isReplay) => {
      const { events, result } = await runRandomScript(script);
      const { runId, sessionId } = result;
      const stream = createUiMessageStream({ runId, sessionId });
      const heard = isReplay ? events.filter((event) => "seq" in event) : events;
      const chunks = [...stream.begin(), ...heard.flatMap(stream.encode), ...stream.end()];
      const schema = uiMessageChunkSchema();
      for (const chunk of chunks)
        expect(await schema.validate?.(JSON.parse(JSON.stringify(chunk)))).toMatchObject({ success: true });
      const message = await read(chunks as UIMessageChunk[]);
      const said = events.flatMap((event) => (event.type === "message" ? event.entry.parts : []));
      const textIn = (parts: readonly { type: string; text?: unknown }[], type: string) =>
        parts.map((part) => (part.type === type ? part.text : "")).join("");
      const last = events.findLast((event) => event.type === "message");
      // A limit's answer follows the model's text.
      const rest = getMissingText(last?.type === "message" ? getText(last.entry) : "", result.text);
      expect(textIn(message.parts, "text")).toBe(textIn(said, "text") + rest);
      expect(textIn(message.parts, "reasoning")).toBe(textIn(said, "reasoning"));
      const calls = message.parts.flatMap((part) => (part.type === "dynamic-tool" ? [part] : []));
      expect(
        calls.map(({ toolName, input, state }) => [toolName, input, state === "output-available"]),
      ).toEqual(result.toolCalls.map(({ name, input, status }) => [name, input, status === "ok"]));
    }),
    { numRuns: 60 },
  );
});

it("encodes generated media as files of this server, without a placeholder", async () => {
  const model = scriptedModel([{ media: [{ mediaType: "image/png", data: "aGk=" }] }]);
  const options = { store: memory(), session: "s", runId: "r" };
  const { events } = await collect(run(defineAgent({ name: "a", model }), "Draw", options));
  const stream = createUiMessageStream({ runId: "r", sessionId: "s" });
  const chunks = [...stream.begin(), ...events.flatMap(stream.encode), ...stream.end()];
  const { parts } = await read(chunks as UIMessageChunk[]);
  expect(parts.filter(({ type }) => type !== "step-start")).toEqual([
    { type: "file", mediaType: "image/png", url: "/api/sessions/s/blobs/blob_1" },
  ]);
});

async function read(chunks: readonly UIMessageChunk[]): Promise<UIMessage> {
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) last = message;
  return last as UIMessage;
}
