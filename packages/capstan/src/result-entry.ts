import type { Fact } from "./event.ts";
import type { ResultEntry } from "./history.ts";
import type { Json } from "./json.ts";
import type { ToolCallRecord } from "./state.ts";

type ResultFact = Extract<Fact, { type: "tool_call_result" }>;

/** What a result of a run tells about its call. */
export function recordOf(fact: ResultFact, input: Json): ToolCallRecord {
  const { id, name, result, status, attempts, ms } = fact;
  return { id, name, input, result, status, attempts, ms };
}

/** What of a result joins the history. */
export function resultEntry(fact: ResultFact): ResultEntry {
  const { id, name, status, result, data, error, ui, contexts, affected, message, handle } = fact;
  return {
    type: "result",
    callId: id,
    name,
    status,
    content: result,
    ...(data !== undefined && { data }),
    ...(error && { error: { code: error.code, message: error.message } }),
    ...(ui && { ui }),
    ...(contexts && { contexts }),
    ...(affected !== undefined && { affected }),
    ...(message !== undefined && { message }),
    ...(handle !== undefined && { handle }),
  };
}
