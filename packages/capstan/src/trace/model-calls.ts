import type { Attributes, Span } from "@opentelemetry/api";
import type { Fact } from "../kernel/event.ts";
import { getStopReason, type Usage } from "../kernel/model.ts";
import { buildUsageAttributes, splitModelName, toFinishReason } from "./attributes.ts";
import { markFailed, type RunSpans, type SpanFactory, toDate } from "./run-spans.ts";
import { type TraceMessage, toTraceMessage } from "./trace-message.ts";

export type FactOf<Type extends Fact["type"]> = Extract<Fact, { readonly type: Type }>;

/**
 * Records the model calls of a run as spans. A span is created when the call ends, because only then the model is
 * known.
 */
export interface ModelCalls {
  /** Marks the start of a model call. */
  start(purpose: "message" | "summary", at: number): void;
  /** Collects input messages for the next model call, if spans include content. Returns all collected messages. */
  addInput(messages: readonly TraceMessage[]): readonly TraceMessage[];
  endMessage(fact: FactOf<"message"> | FactOf<"message_partial">): void;
  fail(fact: FactOf<"model_failed">): void;
  endSummary(fact: FactOf<"compacted"> | FactOf<"turn_summary">): void;
  /** Returns false if no model call is active. */
  addRetry(at: number, attributes: Attributes): boolean;
}

type StartTimes = { message?: number | undefined; summary?: number | undefined };

/** Bounds for long runs: traces are not meant to store everything. */
const maxRetries = 32;
const maxMessages = 64;

/** Tracks the model calls of one run. */
export function trackModelCalls(factory: SpanFactory, spans: RunSpans): ModelCalls {
  const startTimes: StartTimes = {};
  let retries: { readonly at: number; readonly attributes: Attributes }[] = [];
  let inputMessages: readonly TraceMessage[] = [];

  function startChatSpan(fact: Fact, model: string, from: number): Span {
    const names = splitModelName(model);
    const attributes = {
      "gen_ai.provider.name": factory.name(names.provider),
      "gen_ai.request.model": factory.name(names.model),
    };
    const span = spans.add("chat", {
      origin: fact,
      name: names.model,
      from: Math.min(from, fact.at),
      attributes,
    });
    for (const retry of retries) span.addEvent("capstan.retry", retry.attributes, toDate(retry.at));
    retries = [];
    return span;
  }
  function setUsage(span: Span, model: string, usage: Usage): void {
    span.setAttribute("gen_ai.response.model", factory.name(splitModelName(model).model));
    span.setAttributes(buildUsageAttributes(usage));
  }
  return {
    start(purpose, at) {
      startTimes[purpose] = at;
    },
    addInput(messages) {
      if (factory.content) inputMessages = [...inputMessages, ...messages].slice(-maxMessages);
      return inputMessages;
    },
    endMessage(fact) {
      const { at, model, usage, entry, ms } = fact;
      const finishReason = toFinishReason(getStopReason(fact));
      const span = startChatSpan(fact, model, startTimes.message ?? at - ms);
      setUsage(span, model, usage);
      span.setAttribute("gen_ai.response.finish_reasons", [finishReason]);
      if (factory.content) {
        const output = { ...toTraceMessage(entry), finish_reason: finishReason };
        span.setAttribute("gen_ai.input.messages", factory.toMaskedJson(inputMessages));
        span.setAttribute("gen_ai.output.messages", factory.toMaskedJson([output]));
      }
      inputMessages = [];
      // A continuation starts without a `turn_start`.
      startTimes.message = fact.type === "message" ? undefined : at;
      span.end(toDate(at));
    },
    fail(fact) {
      const purpose = fact.compaction === undefined ? "message" : "summary";
      const span = startChatSpan(fact, fact.model, startTimes[purpose] ?? fact.at);
      span.setAttribute("capstan.attempts", fact.attempts);
      if (fact.usage) setUsage(span, fact.model, fact.usage);
      markFailed(span, factory.name(fact.error.code));
      span.end(toDate(fact.at));
      // The next model of the chain may start without a `turn_start` or `compaction_start`.
      startTimes[purpose] = fact.at;
    },
    endSummary(fact) {
      const { type, at, model, usage, ms = 0 } = fact;
      const from = (type === "compacted" ? startTimes.summary : undefined) ?? at - ms;
      if (type === "compacted") startTimes.summary = undefined;
      if (model === undefined || usage === undefined) return;
      const span = startChatSpan(fact, model, from);
      setUsage(span, model, usage);
      span.setAttribute("capstan.purpose", type === "compacted" ? "compaction" : type);
      span.end(toDate(at));
    },
    addRetry(at, attributes) {
      if (startTimes.message === undefined && startTimes.summary === undefined) return false;
      if (retries.length < maxRetries) retries.push({ at, attributes });
      return true;
    },
  };
}
