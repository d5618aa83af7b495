import type { Attributes } from "@opentelemetry/api";
import type { Delta, Fact } from "../kernel/event.ts";
import { type FactOf, type ModelCalls, trackModelCalls } from "./model-calls.ts";
import { buildCallAttributes, markFailed, type RunSpans, type SpanFactory, toDate } from "./run-spans.ts";
import {
  formatArguments,
  formatResult,
  toResultMessage,
  toTextPart,
  toTraceMessage,
} from "./trace-message.ts";

/** Creates the spans of a run from its events, until it suspends. */
export interface RunTrace {
  readonly spans: RunSpans;
  /** Returns false once the run has suspended or ended. All its spans have ended then. */
  addFact(fact: Fact): boolean;
  addRetry(delta: Extract<Delta, { type: "retry" }>, at: number): void;
}

type TraceContext = {
  readonly factory: SpanFactory;
  readonly spans: RunSpans;
  readonly models: ModelCalls;
  /** Handoff calls without a result. They are represented by agent spans. */
  readonly handoffs: Set<string>;
};

export function traceRun(factory: SpanFactory, spans: RunSpans): RunTrace {
  const models = trackModelCalls(factory, spans);
  const context = { factory, spans, models, handoffs: new Set<string>() };
  let lastAt = 0;
  return {
    spans,
    addFact(fact) {
      lastAt = fact.at;
      if (spans.isRecording) recordFact(context, fact);
      if (fact.type !== "done" && fact.type !== "waiting") return true;
      spans.end(fact.at);
      return false;
    },
    addRetry({ attempt, code, waitMs }, now) {
      if (!spans.isRecording) return;
      const attributes = {
        "error.type": factory.name(code),
        "capstan.attempt": attempt,
        "capstan.wait_ms": waitMs,
      };
      const at = Math.max(now, lastAt);
      if (!models.addRetry(at, attributes)) spans.addEvent("capstan.retry", at, attributes);
    },
  };
}

function recordFact(context: TraceContext, fact: Fact): void {
  const { models, spans, handoffs } = context;
  switch (fact.type) {
    case "run_start":
      setInput(context, fact);
      break;
    case "turn_start":
      models.start("message", fact.at);
      break;
    case "message":
    case "message_partial":
      models.endMessage(fact);
      break;
    case "model_failed":
      models.fail(fact);
      break;
    case "compaction_start":
      models.start("summary", fact.at);
      break;
    case "compacted":
    case "turn_summary":
      models.endSummary(fact);
      break;
    case "tool_call_start":
      startCallSpan(context, fact);
      break;
    case "tool_call_result":
      endCallSpan(context, fact);
      break;
    case "handoff":
      handoffs.add(fact.callId);
      spans.push(fact, fact.to, fact.mode === "transfer");
      break;
    case "handoff_return":
      handoffs.add(fact.callId);
      if (fact.by !== undefined) handoffs.add(fact.by);
      spans.pop(fact, fact.to);
      break;
    case "steered":
      models.addInput([toTraceMessage(fact.entry)]);
      break;
    case "waiting":
      spans.first.setAttribute("capstan.run.status", "waiting");
      break;
    case "done":
      setOutcome(context, fact);
      break;
    default:
      break;
  }
  const attributes = buildEventAttributes(context, fact);
  if (attributes) spans.addEvent(`capstan.${fact.type}`, fact.at, attributes);
}

/** Returns the attributes of a fact recorded as a span event, or undefined if it is not. */
function buildEventAttributes({ factory }: TraceContext, fact: Fact): Attributes | undefined {
  switch (fact.type) {
    case "approval_required":
      return {
        "gen_ai.tool.call.id": factory.name(fact.callId),
        "gen_ai.tool.name": factory.name(fact.name),
      };
    case "approval_resolved":
      return { "gen_ai.tool.call.id": factory.name(fact.callId), "capstan.approved": fact.approved };
    case "handoff_denied":
      return { "gen_ai.tool.call.id": factory.name(fact.callId), "capstan.to": factory.name(fact.to) };
    case "limit_reached":
    case "warning":
    case "error":
      return { "capstan.code": factory.name(fact.code) };
    case "steered":
    case "waiting":
    case "woken":
    case "retried":
    case "recovered":
    case "solo_end":
    case "cancel_requested":
    case "compacted":
      return {};
    default:
      return undefined;
  }
}

function setInput({ factory, spans, models }: TraceContext, fact: FactOf<"run_start">): void {
  if (!factory.content) return;
  const messages = models.addInput(fact.input.map(toTraceMessage));
  spans.first.setAttribute("gen_ai.input.messages", factory.toMaskedJson(messages));
  if (fact.instructions !== undefined)
    spans.first.setAttribute(
      "gen_ai.system_instructions",
      factory.toMaskedJson([toTextPart(fact.instructions)]),
    );
}

function startCallSpan({ factory, spans }: TraceContext, fact: FactOf<"tool_call_start">): void {
  const span = spans.startCall(fact, fact.id, fact.name);
  if (factory.content)
    span.setAttribute("gen_ai.tool.call.arguments", formatArguments(factory.maskValue(fact.arguments)));
}

function endCallSpan(
  { factory, spans, models, handoffs }: TraceContext,
  fact: FactOf<"tool_call_result">,
): void {
  const { id, name, status, attempts, at, ms } = fact;
  // The message of a hosted call has the result already.
  if (!fact.hosted) models.addInput([toResultMessage(id, fact.result)]);
  if (handoffs.delete(id)) return;
  const span =
    spans.takeCall(id) ??
    // Refused calls and calls answered elsewhere have no open span.
    spans.add("execute_tool", {
      origin: fact,
      name,
      from: at - ms,
      attributes: buildCallAttributes(factory, id, name),
    });
  span.setAttribute("capstan.tool.status", status);
  if (attempts > 1) span.setAttribute("capstan.attempts", attempts);
  if (fact.cached) span.setAttribute("capstan.tool.cached", true);
  if (fact.hosted) span.setAttribute("capstan.tool.hosted", true);
  if (fact.is_error) markFailed(span, factory.name(fact.error?.code ?? status));
  if (factory.content)
    span.setAttribute("gen_ai.tool.call.result", factory.toMaskedJson(formatResult(fact.result)));
  span.end(toDate(at));
}

function setOutcome({ factory, spans }: TraceContext, fact: FactOf<"done">): void {
  spans.first.setAttribute("capstan.run.status", fact.status);
  if (fact.status === "failed") markFailed(spans.first, factory.name(fact.error?.code ?? "failed"));
  if (!factory.content) return;
  const output = { role: "assistant", parts: [toTextPart(fact.text)], finish_reason: "stop" };
  spans.first.setAttribute("gen_ai.output.messages", factory.toMaskedJson([output]));
}
