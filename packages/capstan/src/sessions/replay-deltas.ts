import type { Delta, DeltaBody, Fact } from "../kernel/event.ts";
import type { AssistantPart } from "../kernel/history.ts";

const chunkLength = 24;

/** Splits a stored message into deltas, in the order of its parts. */
export function replayDeltas(fact: Extract<Fact, { type: "message" }>): Delta[] {
  const { runId, sessionId, agent, turn, parentRunId, parentCallId } = fact;
  const parents = parentRunId !== undefined && parentCallId !== undefined && { parentRunId, parentCallId };
  const origin = { runId, sessionId, agent, turn, ...parents };
  return fact.entry.parts.flatMap(toDeltas).map((body) => ({ ...body, ...origin }));
}

function toDeltas(part: AssistantPart): DeltaBody[] {
  switch (part.type) {
    case "text":
      return splitText(part.text).map((delta) => ({ type: "content_delta", delta }));
    case "reasoning":
      return splitText(part.text).map((delta) => ({ type: "reasoning_delta", delta }));
    case "call": {
      const { id, name } = part;
      const argumentsText = part.raw ?? JSON.stringify(part.input);
      return splitText(argumentsText).map((delta) => ({ type: "tool_call_delta", id, name, delta }));
    }
    case "opaque":
    case "media":
      return [];
  }
}

/** Splits after a space where possible and never inside a surrogate pair. */
function splitText(text: string): string[] {
  const chunks: string[] = [];
  for (let from = 0; from < text.length; ) {
    let to = from + chunkLength;
    const space = text.lastIndexOf(" ", to - 1) + 1;
    if (to < text.length && space > from) to = space;
    if (/[\ud800-\udbff]/.test(text[to - 1] ?? "")) to += 1;
    chunks.push(text.slice(from, to));
    from = to;
  }
  return chunks;
}
