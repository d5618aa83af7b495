import type { AssistantEntry, Fact, Json } from "capstan";
import { toPlainText } from "capstan";
import { clientCallId } from "../call-ids.ts";
import { approvalRequestId } from "./ids.ts";
import type { ResponseOutput, ShownCall } from "./response-output.ts";

type FactOf<Type extends Fact["type"]> = Extract<Fact, { readonly type: Type }>;
type Known = { readonly name: string; readonly arguments: string };

/** The calls of a run: ours with their results, those of the client, and what a person is asked to allow. */
export interface ResponseCalls {
  /** The calls of a message. */
  expect(entry: AssistantEntry): void;
  begin(callId: string, known?: Known): void;
  settle(fact: FactOf<"tool_call_result">): void;
  /** Also of a call inside of another. */
  ask(fact: FactOf<"approval_required">): void;
  resolve(callId: string): void;
  /** Ends what is open; says what the client is asked for, and gives how much that is. */
  rest(callIds: readonly string[]): number;
  /** What tools ask in the middle of their calls, for people to read. */
  questions(callIds: readonly string[]): readonly string[];
}

type CallsOptions = {
  readonly runId: string;
  readonly output: ResponseOutput;
  /** What the client runs. */
  readonly functions: ReadonlySet<string>;
};

/** No call yet. */
export function callsOf({ runId, output, functions }: CallsOptions): ResponseCalls {
  const known = new Map<string, Known>();
  const open = new Map<string, ShownCall>();
  const asks = new Map<string, FactOf<"approval_required">>();
  /** By call: what was asked about it last. */
  const approvalIds = new Map<string, string>();
  const idOf = (callId: string) => Buffer.from(callId).toString("base64url");

  function begin(id: string): void {
    const call = known.get(id);
    if (!call || open.has(id) || functions.has(call.name)) return;
    const named = { id: `mcp_${runId}_${idOf(id)}`, ...call, approvalId: approvalIds.get(id) };
    open.set(id, output.call(named));
  }
  function askFor(callId: string): boolean {
    const asked = asks.get(callId);
    if (asked) {
      const id = approvalIds.get(callId) ?? "";
      output.approval({ id, name: asked.name, arguments: visibleJson(asked.input) });
      return true;
    }
    const call = known.get(callId);
    if (!call || !functions.has(call.name)) return false;
    output.functionCall({
      id: `fc_${runId}_${idOf(callId)}`,
      callId: clientCallId({ runId, callId }),
      ...call,
    });
    return true;
  }

  return {
    expect({ parts }) {
      for (const part of parts)
        if (part.type === "call")
          known.set(part.id, { name: part.name, arguments: part.raw ?? JSON.stringify(part.input) });
    },
    begin(callId, call) {
      // Not said by the model: the fallback tool of a limit.
      if (call && !known.has(callId)) known.set(callId, call);
      begin(callId);
    },
    settle({ id, result, is_error, name }) {
      asks.delete(id);
      if (!known.has(id)) known.set(id, { name, arguments: "{}" });
      begin(id);
      const text = toPlainText(result);
      open.get(id)?.end(is_error ? { status: "failed", error: text } : { status: "completed", output: text });
      open.delete(id);
    },
    ask(fact) {
      const { callId, digest } = fact;
      asks.set(callId, fact);
      approvalIds.set(callId, approvalRequestId({ runId, callId, digest }));
    },
    resolve: (callId) => void asks.delete(callId),
    rest(callIds) {
      for (const call of open.values()) call.end({ status: "incomplete" });
      open.clear();
      return callIds.filter(askFor).length;
    },
    questions: (callIds) => callIds.flatMap((callId) => asks.get(callId)?.question?.message ?? []),
  };
}

const unseen =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Variation_Selector}]|\u034f|[\u115f\u1160\u17b4\u17b5\u3164\uffa0]/gu;

/** What a person agrees to is what there is: what the eye does not see is written out, and it is still JSON. */
function visibleJson(input: Json): string {
  return JSON.stringify(input).replace(unseen, (character) =>
    Array.from({ length: character.length }, (_, index) => written(character.charCodeAt(index))).join(""),
  );
}

function written(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}
