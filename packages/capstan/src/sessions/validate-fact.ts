import type { FactBody } from "../event.ts";
import {
  any,
  array,
  boolean,
  type Fields,
  literals,
  number,
  object,
  record,
  string,
  taggedUnion,
  union,
  type Validator,
} from "./validators.ts";

const file = object({ mediaType: string }, { data: string, url: string });
const part = taggedUnion({ text: object({ text: string }), image: file, file });
const content = union(string, array(part));
const error = object({ code: string, message: string, retryable: boolean }, { retryAfterMs: number });
const status = literals("ok", "error", "denied", "skipped", "interrupted");
const fragment = object({ id: string, content: string, source: object({ title: string }, { url: string }) });
const ui = object({ kind: string, props: any });
const reads = array(literals("public", "private", "untrusted"));
const contentSource = object(
  { tool: string, turn: number, input: string },
  { provenance: literals("application") },
);
const leaks = array(object({ tool: string, turn: number, shown: string }));
const provenance = literals("user", "operator", "application", "external");
const limit = union(literals("unlimited"), number);

const usage = object(
  { inputTokens: number, outputTokens: number },
  { cachedTokens: number, reasoningTokens: number, cost: number, estimated: boolean },
);

const assistantPart = taggedUnion({
  text: object({ text: string }),
  reasoning: object({ text: string }),
  call: object({ id: string, name: string, input: object({}) }, { providerId: string, raw: string }),
  opaque: object({ data: any }),
});
const userEntry = taggedUnion({ user: object({ content }, { provenance }) });
const assistantEntry = taggedUnion({ assistant: object({ parts: array(assistantPart) }, { provenance }) });
const entry = taggedUnion({
  user: object({ content }, { provenance }),
  assistant: object({ parts: array(assistantPart) }, { provenance }),
  result: object(
    { callId: string, name: string, status, content },
    {
      error: object({ code: string, message: string }),
      ui,
      contexts: array(fragment),
      message: string,
      handle: string,
      isPartial: literals(true),
      reads,
    },
  ),
  summary: object({ text: string }, { provenance }),
});

const question = object({ message: string }, { schema: object({}), url: string });
const callCheck = object(
  {},
  { error, approval: object({ reason: string, digest: string }, { because: array(contentSource), leaks }) },
);

type BodyFields = readonly [required: Fields, optional?: Fields];

/** Fields of each fact type. Types missing here cannot be imported, so every new type needs a row. */
const factFields: { readonly [Type in FactBody["type"]]: BodyFields } = {
  run_start: [
    { input: array(entry), policy: object({}), timeZone: string },
    { instructions: string, imported: literals(true) },
  ],
  turn_start: [
    {
      turn: number,
      maxTurns: limit,
      messageCount: number,
      tools: literals("offered", "required", "withdrawn", "unavailable"),
      chain: literals("main", "afterTools"),
      notes: array(string),
    },
  ],
  message: [
    { entry: assistantEntry, model: string, usage, ms: number },
    {
      stopReason: string,
      finish: string,
      checks: record(callCheck),
      output: union(object({ value: any }), object({ issues: array(string) })),
      citations: array(object({ n: number, id: string, title: string }, { url: string })),
    },
  ],
  message_partial: [
    {
      ...{ entry: assistantEntry, stopReason: literals("length", "pause"), model: string },
      ...{ candidate: number, usage, ms: number },
    },
    { citations: array(object({ n: number, id: string, title: string }, { url: string })) },
  ],
  model_failed: [
    { model: string, candidate: number, attempts: number, hadMoreRoom: boolean, error },
    {
      stopReason: string,
      text: string,
      compaction: number,
      isParked: literals(true),
      waitMs: number,
      discarded: number,
    },
  ],
  compaction_start: [{ number, until: number }],
  compacted: [
    { number, until: number },
    {
      ...{ text: string, model: string, usage, ms: number },
      results: array(object({ callId: string, content: string, handle: string })),
    },
  ],
  tool_call_start: [{ id: string, name: string, arguments: any, attempt: number }],
  tool_call_result: [
    { id: string, name: string, result: content, is_error: boolean, status, attempts: number, ms: number },
    {
      error,
      ui,
      contexts: array(fragment),
      message: string,
      handle: string,
      cacheUntil: number,
      reads,
      cached: literals(true),
      retry: number,
    },
  ],
  approval_required: [
    { callId: string, name: string, input: any, shown: string, reason: string, digest: string },
    { because: array(contentSource), leaks, expiresAt: number, question, number, reads },
  ],
  approval_resolved: [
    { callId: string, approved: boolean },
    { reason: string, number },
  ],
  waiting: [{ callIds: array(string) }, { until: number }],
  woken: [{}],
  handoff: [
    { from: string, to: string, callId: string, mode: literals("return", "transfer") },
    {
      message: string,
      rights: object(
        {},
        { gate: literals("default", "strict", "off"), approvals: literals("ask", "allow", "deny") },
      ),
      reads,
    },
  ],
  handoff_denied: [{ callId: string, to: string, reason: string }],
  handoff_return: [
    { from: string, to: string, callId: string, text: string },
    { error, by: string },
  ],
  steered: [{ entry: userEntry }],
  recovered: [{ owner: string }, { alone: literals(true) }],
  solo_end: [{}],
  cancel_requested: [{ reason: string }],
  retried: [{}, { usageBefore: usage }],
  turn_end: [{ turn: number, usage }],
  turn_summary: [
    { turn: number, text: string },
    { model: string, usage, ms: number, error },
  ],
  limit_reached: [{ code: string, message: string, turns: number }],
  warning: [{ code: string, message: string }],
  error: [{ code: string, message: string, retryable: boolean }],
  done: [
    {
      status: literals("done", "limit", "failed", "cancelled"),
      text: string,
      usage,
      cost: number,
      grounded: boolean,
    },
    { error, canRetry: literals(true) },
  ],
};

const maxIdLength = 512;
const id: Validator = (value, path) =>
  typeof value === "string" && value !== "" && value.length <= maxIdLength
    ? undefined
    : `${path} must be a string of 1 to ${maxIdLength} characters`;
const count: Validator = (value, path) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : `${path} must be a non-negative integer`;
/** Latest time a `Date` can represent. */
const maxTime = 8.64e15;
const timestamp: Validator = (value, path) =>
  typeof value === "number" && value >= 0 && value <= maxTime
    ? undefined
    : `${path} must be a timestamp in milliseconds`;

const commonFields: Fields = {
  runId: id,
  sessionId: id,
  agent: string,
  turn: count,
  seq: count,
  at: timestamp,
  id,
};

const optionalFields: Fields = { elapsedMs: count, parentRunId: id, parentCallId: id };

/** Checks a stored fact of any type. */
export const validateFact: Validator = taggedUnion(
  Object.fromEntries(
    Object.entries(factFields).map(([type, [required, optional]]) => [
      type,
      object({ ...commonFields, ...required }, { ...optional, ...optionalFields }),
    ]),
  ),
);
