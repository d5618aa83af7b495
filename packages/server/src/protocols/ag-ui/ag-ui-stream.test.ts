import { HttpAgent } from "@ag-ui/client";
import type { BaseEvent } from "@ag-ui/core";
import { EventSchema } from "@ag-ui/core/schemas";
import { getText } from "capstan";
import fc from "fast-check";
import { expect, it } from "vitest";
import { randomScript, runRandomScript } from "../../testing/random-run.ts";
import { getMissingText } from "../chat/chat-events.ts";
import { createAgUiStream, formatAgUiFrame } from "./ag-ui-stream.ts";

/** Reads frames like a client, with its verifier. */
async function read(wire: string) {
  const client = new HttpAgent({
    url: "http://127.0.0.1/ag-ui",
    threadId: "thread",
    fetch: async () => new Response(wire, { headers: { "content-type": "text/event-stream" } }),
  });
  const events: BaseEvent[] = [];
  await client.runAgent({ runId: "run" }, { onEvent: ({ event }) => void events.push(event) });
  return { events, messages: client.messages };
}

it("encodes any run so that an AG-UI client accepts it and reads back the same text and calls, also from the facts alone", async () => {
  await fc.assert(
    fc.asyncProperty(randomScript, fc.boolean(), async (script, isReplay) => {
      const { events, result } = await runRandomScript(script);
      const stream = createAgUiStream({ threadId: "thread", runId: "run" });
      const heard = isReplay ? events.filter((event) => "seq" in event) : events;
      const wire = [...stream.begin(), ...heard.flatMap(stream.encode), ...stream.end([])];
      for (const event of wire) expect(EventSchema.safeParse(event).error).toBeUndefined();
      const client = await read(wire.map(formatAgUiFrame).join(""));
      expect(client.events).toHaveLength(wire.length);
      const said = client.messages.flatMap((message) => (message.role === "assistant" ? [message] : []));
      const entries = events.flatMap((event) => (event.type === "message" ? [event.entry] : []));
      const last = entries.at(-1);
      // A limit's answer follows the model's text.
      const rest = getMissingText(last ? getText(last) : "", result.text);
      expect(said.map(({ content = "" }) => content).join("")).toBe(entries.map(getText).join("") + rest);
      const calls = said.flatMap(({ toolCalls = [] }) => toolCalls.map((call) => call.function));
      expect(calls.map(({ name, arguments: given }) => [name, JSON.parse(given)])).toEqual(
        result.toolCalls.map(({ name, input }) => [name, input]),
      );
    }),
    { numRuns: 60 },
  );
});
