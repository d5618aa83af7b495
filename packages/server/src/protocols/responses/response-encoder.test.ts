import { type Event, isFact } from "capstan";
import fc from "fast-check";
import { accumulateResponse } from "openai/lib/responses/ResponseAccumulator";
import type { Response, ResponseStreamEvent } from "openai/resources/responses/responses";
import { expect, it } from "vitest";
import { randomScript, runRandomScript } from "../../testing/random-run.ts";
import { createResponseEncoder, type ResponseEvent } from "./response-encoder.ts";

const encodeEvents = (events: readonly Event[], runId: string) => {
  const projection = createResponseEncoder({
    ...{ id: "resp_1", model: "helper", place: { runId, segment: 1 } },
    ...{ functions: new Set<string>(), isFormed: false, showError: (error) => error },
  });
  return { projection, said: events.flatMap((event) => projection.encode(event)) };
};

/** Reads events like the protocol's client: throws if an event does not fit the earlier ones. */
function read(said: readonly ResponseEvent[]): Response | undefined {
  let response: Response | undefined;
  for (const event of said)
    response = accumulateResponse(event as unknown as ResponseStreamEvent, response as Response);
  return response;
}

it("encodes random runs so that the client reads back the same text and calls, live and from the facts", async () => {
  await fc.assert(
    fc.asyncProperty(randomScript, async (script) => {
      const { events, result } = await runRandomScript(script);
      const { said, projection } = encodeEvents(events, result.runId);
      expect(said.map(({ sequence_number }) => sequence_number)).toEqual(said.map((_, index) => index));
      const beforeTheEnd = read(said.slice(0, -1));
      const response = read(said);
      expect(JSON.parse(JSON.stringify(response?.output))).toEqual(
        JSON.parse(JSON.stringify(projection.getResponse().output)),
      );
      expect(beforeTheEnd?.output).toEqual(response?.output);
      const texts = (response?.output ?? []).flatMap((item) =>
        item.type === "message"
          ? item.content.map((part) => (part.type === "output_text" ? part.text : ""))
          : [],
      );
      if (result.status === "done") expect(texts.at(-1)?.trim()).toBe(result.text.trim());
      const calls = (response?.output ?? []).filter((item) => item.type === "mcp_call");
      const asked = result.toolCalls.map(({ name, input }) => [name, input]);
      expect(calls.map(({ name, arguments: given }) => [name, JSON.parse(given)]).toSorted()).toEqual(
        asked.toSorted(),
      );
      expect(calls.every(({ status }) => status === "completed" || status === "failed")).toBe(true);
      const stored = encodeEvents(events.filter(isFact), result.runId).projection.getResponse();
      expect(stored.output).toEqual(projection.getResponse().output);
      expect(stored.usage).toEqual(projection.getResponse().usage);
    }),
    { numRuns: 60 },
  );
});

it("withdraws a message that the model restarts", () => {
  const origin = { runId: "r", sessionId: "s", agent: "helper", turn: 1 };
  const fact = (seq: number, body: object) => ({ ...origin, seq, at: seq, id: `${seq}`, ...body }) as Event;
  const delta = (body: object) => ({ ...origin, ...body }) as Event;
  const usage = { inputTokens: 1, outputTokens: 1 };
  const entry = { type: "assistant", parts: [{ type: "text", text: "Good." }] };
  const { said, projection } = encodeEvents(
    [
      fact(1, { type: "turn_start" }),
      delta({ type: "content_delta", delta: "Ba" }),
      delta({ type: "message_restart", reason: "cut off" }),
      delta({ type: "content_delta", delta: "Goo" }),
      fact(2, { type: "message", entry, usage, stopReason: "end" }),
      fact(3, { type: "done", status: "done", text: "Good.", usage }),
    ],
    "r",
  );
  const done = said.filter(({ type }) => type === "response.output_item.done");
  expect(done.map(({ item }) => (item as { status: string }).status)).toEqual(["incomplete", "completed"]);
  expect(projection.getResponse().output).toHaveLength(1);
  expect(read(said)?.output_text).toBe("Good.");
});
