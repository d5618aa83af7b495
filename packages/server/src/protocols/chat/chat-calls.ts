import type { AssistantEntry, Json } from "capstan";
import type { ChatEvent } from "./chat-events.ts";

type Call = { readonly id: string; readonly name: string; readonly arguments: Json };
type CallResult = { readonly result: string; readonly is_error: boolean };

/** Orders calls as the model requested them, each with its result before the next one. */
export interface ChatCalls {
  /** Registers the calls of a message. */
  expect(entry: AssistantEntry): void;
  begin(call: Call): readonly ChatEvent[];
  settle(id: string, outcome: CallResult): readonly ChatEvent[];
  /**
   * Emits the remaining calls. A call without a result yet, such as a handoff, does not block others; its result
   * follows later.
   */
  flush(): readonly ChatEvent[];
}

/** Emits a call when the previous one has its result. */
export function createChatCalls(): ChatCalls {
  let queue: Call[] = [];
  const known = new Map<string, Call>();
  const started = new Set<string>();
  const shown = new Set<string>();
  const settled = new Map<string, CallResult>();

  function emitStart({ id, name, arguments: given }: Call): readonly ChatEvent[] {
    if (shown.has(id)) return [];
    shown.add(id);
    return [{ event: "tool_call_start", data: { id, name, arguments: toObject(given) } }];
  }
  function emitResult({ id }: Call): readonly ChatEvent[] {
    const outcome = settled.get(id);
    if (!outcome) return [];
    settled.delete(id);
    const { result, is_error } = outcome;
    // This protocol marks any text with this prefix as an error.
    return [
      {
        event: "tool_call_result",
        data: { id, result, is_error: is_error || result.startsWith("Error:") },
      },
    ];
  }
  function isKnown({ id }: Call): boolean {
    return started.has(id) || settled.has(id);
  }
  function advance(): readonly ChatEvent[] {
    const events: ChatEvent[] = [];
    for (let call = queue[0]; call && isKnown(call); call = queue[0]) {
      events.push(...emitStart(call));
      if (!settled.has(call.id)) break;
      events.push(...emitResult(call));
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
      started.add(call.id);
      // Not requested by the model: the fallback tool of a limit.
      if (!known.has(call.id)) queue.push(call);
      known.set(call.id, call);
      return advance();
    },
    settle(id, outcome) {
      settled.set(id, outcome);
      if (queue.some((call) => call.id === id)) return advance();
      const call = known.get(id);
      return call ? [...emitStart(call), ...emitResult(call)] : [];
    },
    flush() {
      const left = queue.filter(isKnown);
      queue = [];
      return left.flatMap((call) => [...emitStart(call), ...emitResult(call)]);
    },
  };
}

function toObject(given: Json): Json {
  return typeof given === "object" && given !== null && !Array.isArray(given) ? given : {};
}
