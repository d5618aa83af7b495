import type { AssistantEntry, Json } from "capstan";
import type { ChatEvent } from "./chat-events.ts";

type Call = { readonly id: string; readonly name: string; readonly arguments: Json };
type Settled = { readonly result: string; readonly is_error: boolean };

/** Calls in the order in which the model said them, each with its result before the next one. */
export interface ShownCalls {
  /** The calls of a message. */
  expect(entry: AssistantEntry): void;
  begin(call: Call): readonly ChatEvent[];
  settle(id: string, outcome: Settled): readonly ChatEvent[];
  /** What has no result yet, such as a handoff, holds up nobody: its result is shown when it comes. */
  flush(): readonly ChatEvent[];
}

/** Shows the next call when the one before it has its result. */
export function shownCalls(): ShownCalls {
  let queue: Call[] = [];
  const known = new Map<string, Call>();
  const begun = new Set<string>();
  const shown = new Set<string>();
  const settled = new Map<string, Settled>();

  function start({ id, name, arguments: given }: Call): readonly ChatEvent[] {
    if (shown.has(id)) return [];
    shown.add(id);
    return [{ event: "tool_call_start", data: { id, name, arguments: objectOf(given) } }];
  }
  function end({ id }: Call): readonly ChatEvent[] {
    const outcome = settled.get(id);
    if (!outcome) return [];
    settled.delete(id);
    const { result, is_error } = outcome;
    // A text that begins so is an error here, whatever its tool says.
    return [
      {
        event: "tool_call_result",
        data: { id, result, is_error: is_error || result.startsWith("Error:") },
      },
    ];
  }
  function isKnown({ id }: Call): boolean {
    return begun.has(id) || settled.has(id);
  }
  function advance(): readonly ChatEvent[] {
    const events: ChatEvent[] = [];
    for (let call = queue[0]; call && isKnown(call); call = queue[0]) {
      events.push(...start(call));
      if (!settled.has(call.id)) break;
      events.push(...end(call));
      queue.shift();
    }
    return events;
  }

  return {
    expect({ parts }) {
      for (const part of parts) {
        if (part.type !== "call") continue;
        const call = { id: part.id, name: part.name, arguments: part.input };
        known.set(call.id, call);
        queue.push(call);
      }
    },
    begin(call) {
      begun.add(call.id);
      // Not said by the model: the fallback tool of a limit.
      if (!known.has(call.id)) queue.push(call);
      known.set(call.id, call);
      return advance();
    },
    settle(id, outcome) {
      settled.set(id, outcome);
      if (queue.some((call) => call.id === id)) return advance();
      const call = known.get(id);
      return call ? [...start(call), ...end(call)] : [];
    },
    flush() {
      const left = queue.filter(isKnown);
      queue = [];
      return left.flatMap((call) => [...start(call), ...end(call)]);
    },
  };
}

function objectOf(given: Json): Json {
  return typeof given === "object" && given !== null && !Array.isArray(given) ? given : {};
}
