import type { Attributes, Span } from "@opentelemetry/api";
import type { Fact } from "../event.ts";
import type { Usage } from "../model.ts";
import { finishReason, modelNames, usageAttributes } from "./attributes.ts";
import { messageOf, type TracedMessage } from "./content.ts";
import { failed, type RunSpans, type SpanMaker, timeOf } from "./run-spans.ts";

export type FactOf<Type extends Fact["type"]> = Extract<Fact, { readonly type: Type }>;

/** The spans of the model calls of a run. Which model it was is known when it has answered: then the span is made. */
export interface ModelCalls {
  /** A model is asked, for a message or for a summary. */
  asked(what: "message" | "summary", at: number): void;
  /** Keeps what the model is shown with its next call, when spans have content. Gives all of it. */
  show(messages: readonly TracedMessage[]): readonly TracedMessage[];
  message(fact: FactOf<"message">): void;
  failed(fact: FactOf<"model_failed">): void;
  summarised(fact: FactOf<"compacted"> | FactOf<"turn_summary">): void;
  /** False when no model is being asked. */
  retried(at: number, attributes: Attributes): boolean;
}

type Begun = { message?: number | undefined; summary?: number | undefined };

/** A run may go on for ever, and a trace is no store. */
const mostRetries = 32;
const mostMessages = 64;

/** Follows the model calls of one run. */
export function modelCalls(make: SpanMaker, spans: RunSpans): ModelCalls {
  const begun: Begun = {};
  let retries: { readonly at: number; readonly attributes: Attributes }[] = [];
  let shown: readonly TracedMessage[] = [];

  function chat(of: Fact, model: string, from: number): Span {
    const names = modelNames(model);
    const attributes = {
      "gen_ai.provider.name": make.name(names.provider),
      "gen_ai.request.model": make.name(names.model),
    };
    const span = spans.add("chat", { of, name: names.model, from: Math.min(from, of.at), attributes });
    for (const retry of retries) span.addEvent("capstan.retry", retry.attributes, timeOf(retry.at));
    retries = [];
    return span;
  }
  function answered(span: Span, model: string, usage: Usage): void {
    span.setAttribute("gen_ai.response.model", make.name(modelNames(model).model));
    span.setAttributes(usageAttributes(usage));
  }
  return {
    asked(what, at) {
      begun[what] = at;
    },
    show(messages) {
      if (make.content) shown = [...shown, ...messages].slice(-mostMessages);
      return shown;
    },
    message(fact) {
      const { at, model, usage, entry, finish, ms } = fact;
      const span = chat(fact, model, begun.message ?? at - ms);
      answered(span, model, usage);
      span.setAttribute("gen_ai.response.finish_reasons", [finishReason(finish)]);
      if (make.content) {
        const said = { ...messageOf(entry), finish_reason: finishReason(finish) };
        span.setAttribute("gen_ai.input.messages", make.json(shown));
        span.setAttribute("gen_ai.output.messages", make.json([said]));
      }
      shown = [];
      begun.message = undefined;
      span.end(timeOf(at));
    },
    failed(fact) {
      const what = fact.compaction === undefined ? "message" : "summary";
      const span = chat(fact, fact.model, begun[what] ?? fact.at);
      span.setAttribute("capstan.attempts", fact.attempts);
      failed(span, make.name(fact.error.code));
      span.end(timeOf(fact.at));
      // The next model of the chain may be asked without a word.
      begun[what] = fact.at;
    },
    summarised(fact) {
      const { type, at, model, usage, ms = 0 } = fact;
      const from = (type === "compacted" ? begun.summary : undefined) ?? at - ms;
      if (type === "compacted") begun.summary = undefined;
      if (model === undefined || usage === undefined) return;
      const span = chat(fact, model, from);
      answered(span, model, usage);
      span.setAttribute("capstan.purpose", type === "compacted" ? "compaction" : type);
      span.end(timeOf(at));
    },
    retried(at, attributes) {
      if (begun.message === undefined && begun.summary === undefined) return false;
      if (retries.length < mostRetries) retries.push({ at, attributes });
      return true;
    },
  };
}
