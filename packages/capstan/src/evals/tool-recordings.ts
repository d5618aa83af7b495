// A file of recorded tools has JSON lines, one per call:
//   {"case":"refund-1","tool":"find_order","input":{"id":7},"result":{"content":"…","data":…}}
// Without `case`, a line answers the calls of any case.
import { AgentError } from "../base/errors.ts";
import { isRecord, type Json, toCanonicalJson } from "../base/json.ts";
import type { Fact } from "../kernel/event.ts";
import type { ToolReturn } from "../kernel/tool.ts";

/** The recorded answer of one call. */
export type ToolRecording = {
  readonly case?: string;
  readonly tool: string;
  readonly input: Json;
  readonly result: ToolReturn;
};

/** Returns the calls of a run, and of its nested runs, that gave a result or failed, in order. */
export function listToolRecordings(facts: readonly Fact[], caseId?: string): readonly ToolRecording[] {
  const inputs = new Map<string, Json>();
  const recordings: ToolRecording[] = [];
  for (const fact of facts) {
    if (fact.type === "tool_call_start" && !fact.hosted)
      inputs.set(`${fact.runId} ${fact.id}`, fact.arguments);
    if (fact.type !== "tool_call_result" || (fact.status !== "ok" && fact.status !== "error")) continue;
    const input = inputs.get(`${fact.runId} ${fact.id}`);
    if (input === undefined) continue;
    const result = toReturn(fact);
    recordings.push({ ...(caseId !== undefined && { case: caseId }), tool: fact.name, input, result });
  }
  return recordings;
}

function toReturn(fact: Extract<Fact, { readonly type: "tool_call_result" }>): ToolReturn {
  const { result, data, ui, contexts, affected, message, error, reads, status } = fact;
  return {
    content: result,
    ...(status === "error" && {
      error: { code: error?.code ?? "tool_failed", message: error?.message ?? "The tool failed." },
      retryable: false,
    }),
    ...(data !== undefined && { data }),
    ...(message !== undefined && { message }),
    ...(ui && { ui }),
    ...(contexts && { contexts }),
    ...(affected !== undefined && { affected }),
    ...(reads && { reads }),
  };
}

/** Serializes recordings as the lines of a file. */
export function formatToolRecordings(recordings: readonly ToolRecording[]): string {
  return recordings.map((recording) => `${JSON.stringify(recording)}\n`).join("");
}

/** Parses the lines of a file of recorded tools. Throws `invalid_input` with the line that cannot be used. */
export function parseToolRecordings(text: string, file: string): readonly ToolRecording[] {
  return text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      value = undefined;
    }
    const isCall =
      isRecord(value) && typeof value.tool === "string" && "input" in value && isRecord(value.result);
    if (isCall) return [value as ToolRecording];
    const message = `${file}:${index + 1} is not a recorded tool call. Remove the line, or record the eval again.`;
    throw new AgentError("invalid_input", message);
  });
}

/** Finds the recorded answers of the calls of one run. */
export interface RecordingLookup {
  /** The n-th identical call of a run gets the n-th recorded answer; further ones the last. */
  find(tool: string, input: Json): ToolReturn | undefined;
}

export function createRecordingLookup(recordings: readonly ToolRecording[], caseId: string): RecordingLookup {
  const own = groupRecordings(recordings.filter((recording) => recording.case === caseId));
  const shared = groupRecordings(recordings.filter((recording) => recording.case === undefined));
  const counts = new Map<string, number>();
  return {
    find(tool, input) {
      const key = toCallKey(tool, input);
      const results = own.get(key) ?? shared.get(key) ?? [];
      const count = counts.get(key) ?? 0;
      counts.set(key, count + 1);
      return results[Math.min(count, results.length - 1)];
    },
  };
}

function groupRecordings(recordings: readonly ToolRecording[]): ReadonlyMap<string, readonly ToolReturn[]> {
  const groups = new Map<string, ToolReturn[]>();
  for (const { tool, input, result } of recordings) {
    const key = toCallKey(tool, input);
    const group = groups.get(key);
    if (group) group.push(result);
    else groups.set(key, [result]);
  }
  return groups;
}

const toCallKey = (tool: string, input: Json): string => `${tool} ${toCanonicalJson(input)}`;
