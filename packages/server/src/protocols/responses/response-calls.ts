import type { AssistantEntry, Fact, Json } from "capstan";
import { toPlainText } from "capstan";
import { createClientCallId } from "../call-ids.ts";
import { formatApprovalRequestId } from "./ids.ts";
import type { OutputCall, ResponseOutput } from "./response-output.ts";

type FactOf<Type extends Fact["type"]> = Extract<Fact, { readonly type: Type }>;
type KnownCall = { readonly name: string; readonly arguments: string };

/** Encodes the calls of a run: server-side calls with their results, client-side calls, and approval requests. */
export interface ResponseCalls {
  /** Registers the calls of a message. */
  expect(entry: AssistantEntry): void;
  begin(callId: string, known?: KnownCall): void;
  settle(fact: FactOf<"tool_call_result">): void;
  /** Also for calls of nested runs. */
  addApproval(fact: FactOf<"approval_required">): void;
  resolve(callId: string): void;
  /** Ends open calls, emits the pending ones, and returns how many could be emitted. */
  suspend(callIds: readonly string[]): number;
  /** Returns the questions of pending tools as text. */
  getQuestions(callIds: readonly string[]): readonly string[];
}

type CallsOptions = {
  readonly runId: string;
  readonly output: ResponseOutput;
  /** Tools that the client runs. */
  readonly functions: ReadonlySet<string>;
};

export function createResponseCalls({ runId, output, functions }: CallsOptions): ResponseCalls {
  const known = new Map<string, KnownCall>();
  const open = new Map<string, OutputCall>();
  const approvals = new Map<string, FactOf<"approval_required">>();
  /** Last approval request by call. */
  const approvalIds = new Map<string, string>();
  const encodeCallId = (callId: string) => Buffer.from(callId).toString("base64url");

  function begin(id: string): void {
    const call = known.get(id);
    if (!call || open.has(id) || functions.has(call.name)) return;
    const named = { id: `mcp_${runId}_${encodeCallId(id)}`, ...call, approvalId: approvalIds.get(id) };
    open.set(id, output.addCall(named));
  }
  function requestCall(callId: string): boolean {
    const asked = approvals.get(callId);
    if (asked) {
      const id = approvalIds.get(callId) ?? "";
      output.addApproval({ id, name: asked.name, arguments: stringifyVisible(asked.input) });
      return true;
    }
    const call = known.get(callId);
    if (!call || !functions.has(call.name)) return false;
    output.addFunctionCall({
      id: `fc_${runId}_${encodeCallId(callId)}`,
      callId: createClientCallId({ runId, callId }),
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
      // Not requested by the model: the fallback tool of a limit.
      if (call && !known.has(callId)) known.set(callId, call);
      begin(callId);
    },
    settle({ id, result, is_error, name }) {
      approvals.delete(id);
      if (!known.has(id)) known.set(id, { name, arguments: "{}" });
      begin(id);
      const text = toPlainText(result);
      open.get(id)?.end(is_error ? { status: "failed", error: text } : { status: "completed", output: text });
      open.delete(id);
    },
    addApproval(fact) {
      const { callId, digest } = fact;
      approvals.set(callId, fact);
      approvalIds.set(callId, formatApprovalRequestId({ runId, callId, digest }));
    },
    resolve: (callId) => void approvals.delete(callId),
    suspend(callIds) {
      for (const call of open.values()) call.end({ status: "incomplete" });
      open.clear();
      return callIds.filter(requestCall).length;
    },
    getQuestions: (callIds) => callIds.flatMap((callId) => approvals.get(callId)?.question?.message ?? []),
  };
}

const invisiblePattern =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Variation_Selector}]|\u034f|[\u115f\u1160\u17b4\u17b5\u3164\uffa0]/gu;

/** Escapes invisible characters within JSON, so that users see everything they approve. */
function stringifyVisible(input: Json): string {
  return JSON.stringify(input).replace(invisiblePattern, (character) =>
    Array.from({ length: character.length }, (_, index) => escapeUnit(character.charCodeAt(index))).join(""),
  );
}

function escapeUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}
