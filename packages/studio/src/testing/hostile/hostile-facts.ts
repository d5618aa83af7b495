import { defaultPolicy, type Fact, type Json, type Store } from "capstan";
import { hostileHint } from "../../widgets/widgets-fixture-data.ts";
import { createSettings, createSpec } from "./hostile-settings.ts";

/** All fields of a type, including optional ones, so that a new field must be added here. */
type Whole<Value> = Value extends string | number | boolean
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Whole<Item>[]
    : Value extends object
      ? Json extends Value
        ? Value
        : { readonly [Field in keyof Value]-?: Whole<Value[Field]> }
      : Value;

type Type = Fact["type"];
/** The fields that every fact has; the rest is its body. */
type EnvelopeField = keyof Extract<Fact, { readonly type: "woken" }>;
type Body<Of extends Type> = Omit<Extract<Fact, { readonly type: Of }>, EnvelopeField>;
type FactBody = Parameters<Store["append"]>[0][number];
/** Fields with free-form data. */
type Loose = "policy" | "ui" | "question" | "entry" | "input" | "contexts" | "checks" | "output";
type WholeBody<Of extends Type> = {
  readonly [Field in keyof Body<Of>]-?: Field extends Loose ? unknown : Whole<NonNullable<Body<Of>[Field]>>;
};

/** Source of hostile texts. Each text has a number to find it again. */
export type HostileText = { text(): string; url(): string };

type Facts = { readonly [Of in Type]: WholeBody<Of> };

const usage = {
  inputTokens: 10,
  outputTokens: 5,
  cachedTokens: 1,
  reasoningTokens: 1,
  cacheWriteTokens: 2,
  longCacheWriteTokens: 1,
  webSearches: 1,
  cost: 0.1,
  unpriced: true,
  estimated: true,
};
const hintCalls = hostileHint.map((_, index) => `h${index}`);

function createParts({ text, url }: HostileText) {
  const image = {
    type: "image" as const,
    mediaType: "image/svg+xml",
    url: url(),
    data: Buffer.from(text()).toString("base64"),
    file: { provider: text(), id: text(), expiresAt: 1 },
  };
  return {
    error: () => ({ code: text(), message: text(), retryable: false, retryAfterMs: 1 }),
    fragment: (id: string) => ({
      id,
      content: text(),
      source: { title: text(), url: url(), [text()]: text() },
      isInResult: true as const,
    }),
    call: (id: string) => ({ type: "call", id, name: text(), input: { [text()]: text() }, raw: text() }),
    source: () => ({
      ...{ tool: text(), turn: 1, input: text(), origin: text() },
      provenance: "application" as const,
    }),
    leak: () => ({ tool: text(), turn: 1, shown: text() }),
    image,
  };
}

/** One fact of each type, with hostile text in every field. */
export function createHostileFacts(hostile: HostileText): Facts {
  return { ...createModelFacts(hostile), ...createToolFacts(hostile), ...createRunFacts(hostile) };
}

type ModelFacts =
  | "run_start"
  | "turn_start"
  | "message"
  | "message_partial"
  | "model_failed"
  | "compaction_start"
  | "compacted"
  | "turn_end"
  | "turn_summary";

function createModelFacts(hostile: HostileText): Pick<Facts, ModelFacts> {
  const { text, url } = hostile;
  const { error, call, source, leak, image } = createParts(hostile);
  const file = { type: "file", mediaType: text(), data: Buffer.from(text()).toString("base64") };
  return {
    run_start: {
      input: [{ type: "user", content: [{ type: "text", text: text() }, image, file] }],
      policy: defaultPolicy,
      timeZone: "UTC",
      settings: createSettings(text),
      instructions: text(),
      ...{ imported: true, compact: true, agentVersion: text(), tags: [text()], background: true },
    },
    turn_start: { maxTurns: 5, messageCount: 1, tools: "offered", chain: "main", notes: [text()] },
    message: {
      entry: {
        type: "assistant",
        parts: [
          { type: "reasoning", text: text() },
          { type: "text", text: `${text()} [1] [2]` },
          { type: "media", mediaType: "image/svg+xml", handle: text(), size: 1 },
          { type: "media", mediaType: text(), handle: text(), size: 1 },
          ...["c1", "c2", "c3", ...hintCalls].map(call),
        ],
      },
      model: text(),
      ...{ usage, retryUsage: usage, ms: 1200 },
      stopReason: "tool_calls",
      finish: "tool_calls",
      checks: {
        c1: { approval: { reason: text(), digest: "d1", because: [source()], leaks: [leak()] } },
        c3: { error: error() },
      },
      output: { issues: [text()] },
      settings: createSettings(text),
      logprobs: [{ token: text(), logprob: -1, top: [{ token: text(), logprob: -2 }] }],
      citations: [
        { n: 1, id: "f1", title: text(), url: url() },
        { n: 2, id: "f2", title: text(), url: url() },
      ],
      sources: [source()],
    },
    message_partial: {
      entry: { type: "assistant", parts: [{ type: "text", text: text() }] },
      stopReason: "length",
      model: text(),
      ...{ candidate: 0, usage, retryUsage: usage },
      ms: 5,
      citations: [{ n: 1, id: "f1", title: text(), url: url() }],
    },
    model_failed: {
      model: text(),
      candidate: 0,
      attempts: 2,
      hadMoreRoom: false,
      isParked: true,
      waitMs: 1,
      ...{ usage, discarded: 1 },
      error: error(),
      stopReason: "other",
      text: text(),
      compaction: 1,
    },
    compaction_start: { number: 1, until: 1 },
    compacted: {
      ...{ number: 1, until: 1, text: text(), model: text(), usage, ms: 5 },
      results: [{ callId: "c1", content: text(), handle: "h" }],
    },
    turn_end: { usage },
    turn_summary: { text: text(), model: text(), usage, ms: 5, error: error() },
  };
}

type ToolFacts =
  | "tool_call_start"
  | "tool_call_result"
  | "approval_required"
  | "approval_resolved"
  | "handoff"
  | "handoff_denied"
  | "handoff_return";

function createToolFacts(hostile: HostileText): Pick<Facts, ToolFacts> {
  const { text } = hostile;
  const { error, fragment, source, leak, image } = createParts(hostile);
  return {
    tool_call_start: { name: text(), arguments: { [text()]: [text()] }, attempt: 1, hosted: true },
    tool_call_result: {
      name: text(),
      result: [{ type: "text", text: text() }, image],
      is_error: false,
      status: "ok",
      ...{ attempts: 1, ms: 40 },
      data: { [text()]: text() },
      error: error(),
      ui: hostileHint[0],
      contexts: [fragment("f1"), fragment("f2")],
      affected: { [text()]: text() },
      message: text(),
      handle: text(),
      cacheUntil: 1,
      reads: ["untrusted"],
      discovered: [createSpec(text)],
      cached: true,
      isPartial: true,
      hosted: true,
      retry: 1,
    },
    approval_required: {
      callId: "c1",
      name: text(),
      input: { path: text(), edits: [{ find: text(), replace: text() }] },
      ...{ shown: text(), reason: text(), digest: "d1" },
      ...{ because: [source()], leaks: [leak()], ui: hostileHint[1] },
      always: { digest: "d2", target: text(), pattern: text() },
      pattern: { digest: "d3", target: text(), pattern: text() },
      expiresAt: 8.64e15,
      ...{ question: undefined, number: 1 },
      reads: ["untrusted"],
    },
    approval_resolved: {
      callId: "c1",
      approved: true,
      reason: text(),
      number: 1,
      value: { [text()]: text() },
      input: { [text()]: text() },
      digest: text(),
    },
    handoff: {
      from: text(),
      to: text(),
      callId: "c2",
      mode: "return",
      message: text(),
      rights: { gate: "strict", approvals: "ask" },
      reads: ["untrusted"],
    },
    handoff_denied: { callId: "c3", to: text(), reason: text() },
    handoff_return: {
      from: text(),
      to: text(),
      callId: "c2",
      text: text(),
      data: { [text()]: text() },
      error: error(),
      by: text(),
    },
  };
}

function createRunFacts(hostile: HostileText): Omit<Facts, ModelFacts | ToolFacts> {
  const { text } = hostile;
  const { error } = createParts(hostile);
  return {
    waiting: { callIds: ["c1"], until: 1 },
    woken: {},
    retried: { usageBefore: usage },
    steered: { entry: { type: "user", content: text() }, queuedAs: text() },
    recovered: { owner: text(), alone: true },
    solo_end: {},
    cancel_requested: { reason: text(), callId: "c1" },
    limit_reached: { code: text(), message: text(), turns: 1 },
    warning: { code: text(), message: text() },
    error: { code: text(), message: text(), retryable: false },
    done: {
      ...{ status: "failed", text: text(), usage, cost: 1 },
      grounded: false,
      output: { [text()]: text() },
      error: error(),
      canRetry: true,
    },
  };
}

type RunIdentity = { readonly sessionId: string; readonly runId: string; readonly agent: string };

/** A run with every type of fact, in a plausible order. */
export function createHostileRun(hostile: HostileText, identity: RunIdentity): readonly FactBody[] {
  const facts = createHostileFacts(hostile);
  const { question: _, number: __, ...approval } = facts.approval_required;
  const pickFacts = (...types: readonly Type[]) => types.map((type) => ({ type, ...facts[type] }));
  return toFacts(identity, [
    ...pickFacts(
      "run_start",
      "recovered",
      "solo_end",
      "compaction_start",
      "model_failed",
      "compacted",
      "turn_start",
      "message",
    ),
    { type: "approval_required", ...approval },
    ...pickFacts("waiting", "woken", "approval_resolved"),
    { type: "tool_call_start", ...facts.tool_call_start, id: "c1" },
    { type: "tool_call_result", ...facts.tool_call_result, id: "c1" },
    ...hostileHint.flatMap((ui, index) => [
      { type: "tool_call_start", ...facts.tool_call_start, id: `h${index}` },
      { type: "tool_call_result", ...facts.tool_call_result, id: `h${index}`, ui },
    ]),
    ...pickFacts("handoff", "handoff_denied", "handoff_return", "steered", "turn_summary", "turn_end"),
    ...pickFacts("warning", "limit_reached", "cancel_requested", "error", "done"),
  ]);
}

/** A run that waits for an approval and for an answer. */
export function createWaitingRun(hostile: HostileText, identity: RunIdentity): readonly FactBody[] {
  const facts = createHostileFacts(hostile);
  const { text, url } = hostile;
  const { question: _, number: __, ...approval } = facts.approval_required;
  const properties = {
    words: { type: "string", title: text(), description: text() },
    choice: { type: "string", enum: [text(), text()], title: text() },
  };
  const question = { message: text(), url: url(), schema: { type: "object", properties } };
  return toFacts(identity, [
    { type: "run_start", ...facts.run_start },
    { type: "turn_start", ...facts.turn_start },
    { type: "message", ...facts.message },
    { type: "approval_required", ...approval },
    { type: "tool_call_start", ...facts.tool_call_start, id: "c2" },
    { type: "approval_required", ...approval, callId: "c2", number: 1, question },
    { type: "waiting", callIds: ["c1", "c2"] },
  ]);
}

function toFacts(identity: RunIdentity, bodies: readonly object[]): readonly FactBody[] {
  return bodies.map((body, index) => {
    const [at, id] = [1_700_000_000_000 + index * 1000, `${identity.runId}.${index}`];
    const fact = { turn: index === 0 ? 0 : 1, at, id };
    return { ...fact, ...body, ...identity } as unknown as FactBody;
  });
}
