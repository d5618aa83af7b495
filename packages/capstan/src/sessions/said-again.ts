import type { Delta, DeltaBody, Fact } from "../event.ts";
import type { AssistantPart } from "../history.ts";

const pieceLength = 24;

/** The deltas that a message may have been streamed in, in the order of its parts. */
export function saidAgain(fact: Extract<Fact, { type: "message" }>): Delta[] {
  const { runId, sessionId, agent, turn, parentRunId, parentCallId } = fact;
  const parents = parentRunId !== undefined && parentCallId !== undefined && { parentRunId, parentCallId };
  const origin = { runId, sessionId, agent, turn, ...parents };
  return fact.entry.parts.flatMap(deltasOf).map((body) => ({ ...body, ...origin }));
}

function deltasOf(part: AssistantPart): DeltaBody[] {
  switch (part.type) {
    case "text":
      return pieces(part.text).map((delta) => ({ type: "content_delta", delta }));
    case "reasoning":
      return pieces(part.text).map((delta) => ({ type: "reasoning_delta", delta }));
    case "call": {
      const { id, name } = part;
      const written = part.raw ?? JSON.stringify(part.input);
      return pieces(written).map((delta) => ({ type: "tool_call_delta", id, name, delta }));
    }
    case "opaque":
      return [];
  }
}

/** Cut behind a space where there is one, and never inside a character. */
function pieces(text: string): string[] {
  const all: string[] = [];
  for (let from = 0; from < text.length; ) {
    let to = from + pieceLength;
    const space = text.lastIndexOf(" ", to - 1) + 1;
    if (to < text.length && space > from) to = space;
    if (/[\ud800-\udbff]/.test(text[to - 1] ?? "")) to += 1;
    all.push(text.slice(from, to));
    from = to;
  }
  return all;
}
