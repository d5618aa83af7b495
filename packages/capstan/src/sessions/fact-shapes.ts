import type { ApprovalScope } from "../kernel/approval-scope.ts";
import type { CallCheck, Leak } from "../kernel/call-check.ts";
import type {
  Fact,
  FactBody,
  ModelChain,
  Origin,
  Stamp,
  StructuredOutput,
  ToolOffer,
} from "../kernel/event.ts";
import type { TokenLogprob, ToolSpec } from "../kernel/model.ts";
import type { HandoffPolicy, Policy, PolicyOverrides } from "../kernel/policy.ts";
import type { Source } from "../kernel/provenance.ts";
import type { ModelSettings } from "../kernel/settings/settings.ts";
import type { Question } from "../kernel/tool.ts";
import {
  assistantEntry,
  citations,
  content,
  entry,
  error,
  fragments,
  messageEnd,
  notSpent,
  notSpentOptional,
  status,
  stopReason,
  ui,
  unvouched,
  userEntry,
} from "./entry-shapes.ts";
import {
  amount,
  array,
  boolean,
  choice,
  count,
  drop,
  dropped,
  either,
  type Fields,
  json,
  keep,
  keepOptional,
  number,
  object,
  openObject,
  record,
  replace,
  replaceOptional,
  type Shape,
  string,
} from "./shapes.ts";

type Body<Type extends FactBody["type"]> = Omit<Extract<FactBody, { readonly type: Type }>, "type">;

const sources = array(
  object<Source>({
    ...{ tool: keep(string), turn: keep(count), input: keep(string) },
    ...{ provenance: keepOptional(choice("application")), origin: keepOptional(string) },
  }),
);
const leaks = array(object<Leak>({ tool: keep(string), turn: keep(count), shown: keep(string) }));
const question = object<Question>({
  ...{ message: keep(string), url: keepOptional(string), state: keepOptional(json) },
  schema: keepOptional(openObject<NonNullable<Question["schema"]>>({})),
});
const scope = object<ApprovalScope>({
  ...{ digest: keep(string), target: keepOptional(string), pattern: keepOptional(string) },
});
const checks = record(
  object<CallCheck>({
    error: keepOptional(error),
    approval: keepOptional(
      object<NonNullable<CallCheck["approval"]>>({
        ...{ reason: keep(string), digest: keep(string) },
        ...{ because: keepOptional(sources), leaks: keepOptional(leaks), ui: keepOptional(ui) },
        ...{ always: keepOptional(scope), pattern: keepOptional(scope) },
      }),
    ),
    rule: keepOptional(object<NonNullable<CallCheck["rule"]>>({ id: keep(string), digest: keep(string) })),
  }),
);
const output: Shape<StructuredOutput> = either(
  object<{ readonly value: StructuredValue }>({ value: keep(json) }),
  object<{ readonly issues: readonly string[] }>({ issues: keep(array(string)) }),
);
type StructuredValue = Extract<StructuredOutput, { readonly value: unknown }>["value"];

const timeZone: Shape<string> = { type: "string", hint: "a time zone", accepts: isTimeZone };
const anyPolicy = openObject<Policy>({});
const handoffMode: Shape<HandoffPolicy["mode"]> = choice("return", "transfer");
const rights = object<NonNullable<Body<"handoff">["rights"]>>({
  gate: keepOptional(choice("default", "strict", "off")),
  approvals: keepOptional(choice("ask", "allow", "deny")),
});

/**
 * The fields of each fact that an import keeps, drops or replaces. Anyone may have written the file, so only history is
 * kept: words, calls and their results. Everything that grants a right, suppresses a check, names an owner or counts
 * against a budget comes from the deployment or is left out, and so is every field without a row.
 */
const factBodies: { readonly [Type in FactBody["type"]]: Shape<Body<Type>> } = {
  run_start: object<Body<"run_start">>({
    input: keep(array(entry)),
    policy: replace(anyPolicy, (value, { fact, deployment }) => ({
      ...deployment.getPolicy(String(fact.agent)),
      ...pickHistoryPolicy(value as PolicyOverrides),
    })),
    timeZone: keep(timeZone),
    // They go to the model's provider at the deployment's expense.
    settings: drop(openObject<ModelSettings>({})),
    instructions: drop(string),
    imported: replaceOptional(choice(true), () => true as const),
    compact: keepOptional(choice(true)),
    // Names a definition of this deployment.
    agentVersion: drop(string),
    ...{ tags: keepOptional(array(string)), background: keepOptional(choice(true)) },
  }),
  turn_start: object<Body<"turn_start">>({
    ...{ turn: keep(count), maxTurns: keep(either(choice("unlimited"), number)), messageCount: keep(count) },
    tools: keep(choice<ToolOffer>("offered", "required", "withdrawn", "unavailable")),
    chain: keep(choice<ModelChain>("main", "afterTools")),
    // Notes are added to the instructions.
    notes: replace(array(string), () => []),
  }),
  message: object<Body<"message">>({
    ...{ entry: keep(assistantEntry), model: keep(string), usage: notSpent, ms: keep(number) },
    retryUsage: notSpentOptional,
    stopReason: keepOptional(messageEnd),
    finish: keepOptional(either(messageEnd, choice("stop"))),
    // Approvals, validated values and labels count in the deployment that made them.
    ...{ checks: drop(checks), output: drop(output), sources: drop(sources) },
    citations: keepOptional(citations),
    ...{ settings: drop(openObject<ModelSettings>({})), logprobs: drop(array(openObject<TokenLogprob>({}))) },
  }),
  message_partial: object<Body<"message_partial">>({
    ...{ entry: keep(assistantEntry), stopReason: keep(choice("length", "pause")), model: keep(string) },
    ...{ candidate: keep(count), usage: notSpent, ms: keep(number), citations: keepOptional(citations) },
    retryUsage: notSpentOptional,
  }),
  model_failed: object<Body<"model_failed">>({
    ...{ model: keep(string), candidate: keep(count), attempts: keep(count), hadMoreRoom: keep(boolean) },
    // A run that waits for its provider does not wait longer because of the file.
    ...{ isParked: keepOptional(choice(true)), waitMs: drop(amount), usage: notSpentOptional },
    ...{ discarded: keepOptional(count), error: keep(error), text: keepOptional(string) },
    ...{ stopReason: keepOptional(stopReason), compaction: keepOptional(count) },
  }),
  compaction_start: object<Body<"compaction_start">>({ number: keep(count), until: keep(count) }),
  compacted: object<Body<"compacted">>({
    ...{ number: keep(count), until: keep(count), text: keepOptional(string), model: keepOptional(string) },
    results: keepOptional(
      array(
        object<NonNullable<Body<"compacted">["results"]>[number]>({
          ...{ callId: keep(string), content: keep(string), handle: keep(string) },
        }),
      ),
    ),
    ...{ usage: notSpentOptional, ms: keepOptional(number) },
  }),
  tool_call_start: object<Body<"tool_call_start">>({
    ...{ id: keep(string), name: keep(string), arguments: keep(json), attempt: keep(count) },
    hosted: keepOptional(choice(true)),
  }),
  tool_call_result: object<Body<"tool_call_result">>({
    ...{ id: keep(string), name: keep(string), result: keep(content), is_error: keep(boolean) },
    ...{ status: keep(status), attempts: keep(count), ms: keep(number), retry: keepOptional(count) },
    ...{ data: keepOptional(json), affected: keepOptional(json), error: keepOptional(error) },
    ...{ ui: keepOptional(ui), contexts: keepOptional(fragments), message: keepOptional(string) },
    ...{ handle: keepOptional(string), isPartial: keepOptional(choice(true)) },
    // The deployment's own tools decide what a model gets.
    discovered: drop(array(openObject<ToolSpec>({}))),
    hosted: keepOptional(choice(true)),
    ...{ cached: keepOptional(choice(true)), cacheUntil: drop(number), reads: unvouched },
  }),
  approval_required: object<Body<"approval_required">>({
    ...{ callId: keep(string), name: keep(string), input: keep(json), shown: keep(string) },
    ...{ reason: keep(string), digest: replace(string, () => ""), expiresAt: drop(number) },
    ...{ because: keepOptional(sources), leaks: keepOptional(leaks), ui: keepOptional(ui) },
    ...{ always: drop(scope), pattern: drop(scope) },
    // A question would be repeated in the name of the tool.
    ...{ question: drop(question), number: keepOptional(count), reads: unvouched },
  }),
  approval_resolved: object<Body<"approval_resolved">>({
    ...{ callId: keep(string), approved: keep(boolean), reason: keepOptional(string) },
    ...{ number: keepOptional(count), value: keepOptional(json) },
    ...{ input: keepOptional(json), digest: drop(string) },
  }),
  // The run resumes when the user resumes it, not at a time in the file, and its open calls are not made.
  waiting: object<Body<"waiting">>({ callIds: replace(array(string), () => []), until: drop(number) }),
  woken: object<Body<"woken">>({}),
  handoff: object<Body<"handoff">>({
    ...{ from: keep(string), to: keep(string), callId: keep(string), mode: keep(handoffMode) },
    message: keepOptional(string),
    rights: replaceOptional<NonNullable<Body<"handoff">["rights"]>>(rights, (_, { fact, deployment }) => {
      const { gate, approvals } = deployment.getPolicy(String(fact.to));
      return { gate, approvals };
    }),
    reads: unvouched,
  }),
  handoff_denied: object<Body<"handoff_denied">>({
    ...{ callId: keep(string), to: keep(string), reason: keep(string) },
  }),
  handoff_return: object<Body<"handoff_return">>({
    ...{ from: keep(string), to: keep(string), callId: keep(string), text: keep(string) },
    ...{ data: keepOptional(json), error: keepOptional(error), by: keepOptional(string) },
  }),
  steered: object<Body<"steered">>({ entry: keep(userEntry), queuedAs: keepOptional(string) }),
  // Crashes of other processes do not count against the processes here.
  recovered: dropped(object<Body<"recovered">>({ owner: keep(string), alone: keepOptional(choice(true)) })),
  solo_end: dropped(object<Body<"solo_end">>({})),
  cancel_requested: object<Body<"cancel_requested">>({ reason: keep(string), callId: keepOptional(string) }),
  retried: object<Body<"retried">>({ usageBefore: notSpentOptional }),
  turn_end: object<Body<"turn_end">>({ turn: keep(count), usage: notSpent }),
  turn_summary: object<Body<"turn_summary">>({
    ...{ turn: keep(count), text: keep(string), model: keepOptional(string), usage: notSpentOptional },
    ...{ ms: keepOptional(number), error: keepOptional(error) },
  }),
  limit_reached: object<Body<"limit_reached">>({
    ...{ code: keep(string), message: keep(string), turns: keep(count) },
  }),
  // A run gives each warning once: the code of an imported one must not suppress its own.
  warning: object<Body<"warning">>({ code: replace(string, () => "imported"), message: keep(string) }),
  error: object<Body<"error">>({ code: keep(string), message: keep(string), retryable: keep(boolean) }),
  done: object<Body<"done">>({
    status: keep(choice("done", "limit", "failed", "cancelled")),
    ...{ text: keep(string), usage: notSpent, cost: replace(amount, () => 0), grounded: keep(boolean) },
    ...{ output: keepOptional(json), error: keepOptional(error), canRetry: keepOptional(choice(true)) },
  }),
};

/** Picks the settings that the fold of a history depends on. */
export function pickHistoryPolicy({
  memory,
  historyLimit,
}: PolicyOverrides): Pick<PolicyOverrides, "memory" | "historyLimit"> {
  return { ...(memory !== undefined && { memory }), ...(historyLimit !== undefined && { historyLimit }) };
}

function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone }) !== undefined;
  } catch {
    return false;
  }
}

const maxIdLength = 512;
const id: Shape<string> = {
  ...{ type: "string", hint: `a string of 1 to ${maxIdLength} characters` },
  accepts: (value: string) => value !== "" && value.length <= maxIdLength,
};
/** Latest time a `Date` can represent. */
const maxTime = 8.64e15;
const timestamp: Shape<number> = {
  ...{ type: "number", hint: "a timestamp in milliseconds" },
  accepts: (value: number) => value >= 0 && value <= maxTime,
};

/** The fields that all facts have. */
const factFields: Fields<Origin & Stamp & Pick<Fact, "seq">> = {
  ...{ runId: keep(id), sessionId: keep(id), turn: keep(count), seq: keep(count) },
  agent: replace(string, (_, { fact, deployment }) => deployment.getAgentName(String(fact.agent))),
  // A store keeps one fact of each id, so an id in the file must not be the one of a fact to come.
  id: replace(id, (_, { fact }) =>
    fact.type === "run_start" ? `${fact.runId}/run_start` : `${fact.runId}/imported/${fact.seq}`,
  ),
  // A time to come would keep the session from being pruned.
  at: replace(timestamp, (value, { deployment }) => Math.min(Number(value), deployment.now)),
  ...{ elapsedMs: keepOptional(count), parentRunId: keepOptional(id), parentCallId: keepOptional(id) },
};

/** A fact of any type, with all its fields. */
export const factShape: Shape = {
  type: "variants",
  variants: Object.fromEntries(
    Object.entries(factBodies).map(([type, shape]) => [type, withFactFields(shape)]),
  ),
};

function withFactFields(shape: Shape): Shape {
  if (shape.type === "dropped") return dropped(withFactFields(shape.shape));
  // The id of a fact about a call is the id of the call.
  return shape.type === "object" ? { ...shape, fields: { ...factFields, ...shape.fields } } : shape;
}
