import { verifyEvents } from "@ag-ui/client";
import type { BaseEvent } from "@ag-ui/core";
import { EventSchema } from "@ag-ui/core/schemas";
import fc from "fast-check";
import { from, lastValueFrom, toArray } from "rxjs";
import { expect, it } from "vitest";
import { randomRun, randomScript } from "../testing/random-run.ts";
import { agUiStream } from "./ag-ui.ts";
import { unsaid } from "./chat-events.ts";
import { textOf } from "./entry-text.ts";

it("says of any run what the verifier of AG-UI accepts and what reads back as the same text and calls, also from the facts alone", async () => {
  await fc.assert(
    fc.asyncProperty(randomScript, fc.boolean(), async (script, isReplay) => {
      const { events, result } = await randomRun(script);
      const stream = agUiStream({ threadId: "thread", runId: "run" });
      const heard = isReplay ? events.filter((event) => "seq" in event) : events;
      const wire = [...stream.begin(), ...heard.flatMap(stream.hear), ...stream.end([])].map(
        (event) => JSON.parse(JSON.stringify(event)) as BaseEvent,
      );
      for (const event of wire) expect(EventSchema.safeParse(event).error).toBeUndefined();
      const verified = await lastValueFrom(from(wire).pipe(verifyEvents(), toArray()));
      expect(verified).toHaveLength(wire.length);
      const deltas = (type: string, id?: unknown) =>
        wire
          .filter((event) => event.type === type && (id === undefined || event.toolCallId === id))
          .map(({ delta }) => delta)
          .join("");
      const messages = events.flatMap((event) => (event.type === "message" ? [event.entry] : []));
      const last = messages.at(-1);
      const rest = unsaid(last ? textOf(last) : "", result.text);
      expect(deltas("TEXT_MESSAGE_CONTENT")).toBe(messages.map(textOf).join("") + rest);
      const calls = wire.filter(({ type }) => type === "TOOL_CALL_START");
      expect(
        calls.map(({ toolCallName, toolCallId }) => [
          toolCallName,
          JSON.parse(deltas("TOOL_CALL_ARGS", toolCallId)),
        ]),
      ).toEqual(result.toolCalls.map(({ name, input }) => [name, input]));
    }),
    { numRuns: 60 },
  );
});
