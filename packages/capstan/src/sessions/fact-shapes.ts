import type { FactBody } from "../event.ts";
import {
  anything,
  byType,
  either,
  type Fields,
  flag,
  list,
  mapOf,
  number,
  oneOf,
  record,
  type Shape,
  text,
} from "./shape.ts";

const file = record({ mediaType: text }, { data: text, url: text });
const part = byType({ text: record({ text }), image: file, file });
const content = either(text, list(part));
const error = record({ code: text, message: text, retryable: flag }, { retryAfterMs: number });
const status = oneOf("ok", "error", "denied", "skipped", "interrupted");
const fragment = record({ id: text, content: text, source: record({ title: text }, { url: text }) });
const ui = record({ kind: text, props: anything });
const reads = list(oneOf("public", "private", "untrusted"));
const source = record({ tool: text, turn: number, input: text });
const limit = either(oneOf("unlimited"), number);

const usage = record(
  { inputTokens: number, outputTokens: number },
  { cachedTokens: number, reasoningTokens: number, cost: number, estimated: flag },
);

const assistantPart = byType({
  text: record({ text }),
  reasoning: record({ text }),
  call: record({ id: text, name: text, input: record({}) }, { providerId: text, raw: text }),
  opaque: record({ data: anything }),
});
const userEntry = byType({ user: record({ content }) });
const assistantEntry = byType({ assistant: record({ parts: list(assistantPart) }) });
const entry = byType({
  user: record({ content }),
  assistant: record({ parts: list(assistantPart) }),
  result: record(
    { callId: text, name: text, status, content },
    {
      error: record({ code: text, message: text }),
      ui,
      contexts: list(fragment),
      message: text,
      handle: text,
    },
  ),
  summary: record({ text }),
});

const question = record({ message: text }, { schema: record({}), url: text });
const check = record(
  {},
  { error, approval: record({ reason: text, digest: text }, { because: list(source) }) },
);

type Body = readonly [required: Fields, optional?: Fields];

/** What each fact must say. A fact that is not here cannot be imported, so a new one needs a row. */
const bodies: { readonly [Type in FactBody["type"]]: Body } = {
  run_start: [{ input: list(entry), policy: record({}), timeZone: text }, { instructions: text }],
  turn_start: [
    {
      turn: number,
      maxTurns: limit,
      messageCount: number,
      tools: oneOf("offered", "required", "withdrawn", "unavailable"),
      chain: oneOf("main", "afterTools"),
      notes: list(text),
    },
  ],
  message: [
    { entry: assistantEntry, model: text, usage, ms: number, finish: text },
    {
      checks: mapOf(check),
      output: either(record({ value: anything }), record({ issues: list(text) })),
      citations: list(record({ n: number, id: text, title: text }, { url: text })),
    },
  ],
  model_failed: [
    { model: text, candidate: number, attempts: number, hadMoreRoom: flag, error },
    { compaction: number },
  ],
  compaction_start: [{ number, until: number }],
  compacted: [
    { number, until: number },
    { text, model: text, usage, ms: number },
  ],
  tool_call_start: [{ id: text, name: text, arguments: anything, attempt: number }],
  tool_call_result: [
    { id: text, name: text, result: content, is_error: flag, status, attempts: number, ms: number },
    {
      error,
      ui,
      contexts: list(fragment),
      message: text,
      handle: text,
      cacheUntil: number,
      reads,
      cached: oneOf(true),
    },
  ],
  approval_required: [
    { callId: text, name: text, input: anything, shown: text, reason: text, digest: text },
    { because: list(source), question, number, reads },
  ],
  approval_resolved: [
    { callId: text, approved: flag },
    { reason: text, number },
  ],
  waiting: [{ callIds: list(text) }, { until: number }],
  woken: [{}],
  handoff: [
    { from: text, to: text, callId: text, mode: oneOf("return", "transfer") },
    {
      message: text,
      rights: record(
        {},
        { gate: oneOf("default", "strict", "off"), approvals: oneOf("ask", "allow", "deny") },
      ),
      reads,
    },
  ],
  handoff_denied: [{ callId: text, to: text, reason: text }],
  handoff_return: [
    { from: text, to: text, callId: text, text },
    { error, by: text },
  ],
  steered: [{ entry: userEntry }],
  recovered: [{ owner: text }],
  cancel_requested: [{ reason: text }],
  turn_end: [{ turn: number, usage }],
  turn_summary: [
    { turn: number, text },
    { model: text, usage, ms: number, error },
  ],
  limit_reached: [{ code: text, message: text, turns: number }],
  warning: [{ code: text, message: text }],
  error: [{ code: text, message: text, retryable: flag }],
  done: [
    {
      status: oneOf("done", "limit", "failed", "cancelled"),
      text,
      usage,
      cost: number,
      grounded: flag,
    },
    { error },
  ],
};

const longestId = 512;
const id: Shape = (value, path) =>
  typeof value === "string" && value !== "" && value.length <= longestId
    ? undefined
    : `${path} must be a text of 1 to ${longestId} characters`;
const count: Shape = (value, path) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : `${path} must be a whole number from 0`;
/** The last instant that a date can have. */
const latest = 8.64e15;
const instant: Shape = (value, path) =>
  typeof value === "number" && value >= 0 && value <= latest
    ? undefined
    : `${path} must be a time in milliseconds`;

const placed: Fields = { runId: id, sessionId: id, agent: text, turn: count, seq: count, at: instant, id };

/** A stored fact, whatever it says. */
export const factShape: Shape = byType(
  Object.fromEntries(
    Object.entries(bodies).map(([type, [required, optional]]) => [
      type,
      record({ ...placed, ...required }, { ...optional, parentRunId: id, parentCallId: id }),
    ]),
  ),
);
