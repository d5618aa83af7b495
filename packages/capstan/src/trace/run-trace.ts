import type { Attributes } from "@opentelemetry/api";
import type { Delta, Fact } from "../event.ts";
import { argumentsText, messageOf, resultMessage, resultText, textPart } from "./content.ts";
import { type FactOf, type ModelCalls, modelCalls } from "./model-calls.ts";
import { callAttributes, failed, type RunSpans, type SpanMaker, timeOf } from "./run-spans.ts";

/** Makes the spans of a run from its events, until it rests. */
export interface RunTrace {
  readonly spans: RunSpans;
  /** False when the run has come to rest: all its spans have ended. */
  hear(fact: Fact): boolean;
  retried(delta: Extract<Delta, { type: "retry" }>, at: number): void;
}

type Following = {
  readonly make: SpanMaker;
  readonly spans: RunSpans;
  readonly models: ModelCalls;
  /** Calls that hand over or back, and have no result yet: what they do is the span of an agent. */
  readonly handoffs: Set<string>;
};

/** Follows one run. */
export function runTrace(make: SpanMaker, spans: RunSpans): RunTrace {
  const models = modelCalls(make, spans);
  const following = { make, spans, models, handoffs: new Set<string>() };
  let lastAt = 0;
  return {
    spans,
    hear(fact) {
      lastAt = fact.at;
      if (spans.isRecording) follow(following, fact);
      if (fact.type !== "done" && fact.type !== "waiting") return true;
      spans.end(fact.at);
      return false;
    },
    retried({ attempt, code, waitMs }, now) {
      if (!spans.isRecording) return;
      const attributes = {
        "error.type": make.name(code),
        "capstan.attempt": attempt,
        "capstan.wait_ms": waitMs,
      };
      const at = Math.max(now, lastAt);
      if (!models.retried(at, attributes)) spans.note("capstan.retry", at, attributes);
    },
  };
}

function follow(following: Following, fact: Fact): void {
  const { models, spans, handoffs } = following;
  switch (fact.type) {
    case "run_start":
      showInput(following, fact);
      break;
    case "turn_start":
      models.asked("message", fact.at);
      break;
    case "message":
      models.message(fact);
      break;
    case "model_failed":
      models.failed(fact);
      break;
    case "compaction_start":
      models.asked("summary", fact.at);
      break;
    case "compacted":
    case "turn_summary":
      models.summarised(fact);
      break;
    case "tool_call_start":
      startCall(following, fact);
      break;
    case "tool_call_result":
      endCall(following, fact);
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
      models.show([messageOf(fact.entry)]);
      break;
    case "waiting":
      spans.first.setAttribute("capstan.run.status", "waiting");
      break;
    case "done":
      showEnd(following, fact);
      break;
    default:
      break;
  }
  const note = noteOf(following, fact);
  if (note) spans.note(`capstan.${fact.type}`, fact.at, note);
}

/** What is said of a fact that is an event of a span. */
function noteOf({ make }: Following, fact: Fact): Attributes | undefined {
  switch (fact.type) {
    case "approval_required":
      return { "gen_ai.tool.call.id": make.name(fact.callId), "gen_ai.tool.name": make.name(fact.name) };
    case "approval_resolved":
      return { "gen_ai.tool.call.id": make.name(fact.callId), "capstan.approved": fact.approved };
    case "handoff_denied":
      return { "gen_ai.tool.call.id": make.name(fact.callId), "capstan.to": make.name(fact.to) };
    case "limit_reached":
    case "warning":
    case "error":
      return { "capstan.code": make.name(fact.code) };
    case "steered":
    case "waiting":
    case "woken":
    case "recovered":
    case "cancel_requested":
    case "compacted":
      return {};
    default:
      return undefined;
  }
}

function showInput({ make, spans, models }: Following, fact: FactOf<"run_start">): void {
  if (!make.content) return;
  const shown = models.show(fact.input.map(messageOf));
  spans.first.setAttribute("gen_ai.input.messages", make.json(shown));
  if (fact.instructions !== undefined)
    spans.first.setAttribute("gen_ai.system_instructions", make.json([textPart(fact.instructions)]));
}

function startCall({ make, spans }: Following, fact: FactOf<"tool_call_start">): void {
  const span = spans.startCall(fact, fact.id, fact.name);
  if (make.content)
    span.setAttribute("gen_ai.tool.call.arguments", argumentsText(make.masked(fact.arguments)));
}

function endCall({ make, spans, models, handoffs }: Following, fact: FactOf<"tool_call_result">): void {
  const { id, name, status, attempts, at, ms } = fact;
  models.show([resultMessage(id, fact.result)]);
  if (handoffs.delete(id)) return;
  const span =
    spans.takeCall(id) ??
    // One that was refused, or answered from elsewhere, has not begun here.
    spans.add("execute_tool", {
      of: fact,
      name,
      from: at - ms,
      attributes: callAttributes(make, id, name),
    });
  span.setAttribute("capstan.tool.status", status);
  if (attempts > 1) span.setAttribute("capstan.attempts", attempts);
  if (fact.cached) span.setAttribute("capstan.tool.cached", true);
  if (fact.is_error) failed(span, make.name(fact.error?.code ?? status));
  if (make.content) span.setAttribute("gen_ai.tool.call.result", make.json(resultText(fact.result)));
  span.end(timeOf(at));
}

function showEnd({ make, spans }: Following, fact: FactOf<"done">): void {
  spans.first.setAttribute("capstan.run.status", fact.status);
  if (fact.status === "failed") failed(spans.first, make.name(fact.error?.code ?? "failed"));
  if (!make.content) return;
  const said = { role: "assistant", parts: [textPart(fact.text)], finish_reason: "stop" };
  spans.first.setAttribute("gen_ai.output.messages", make.json([said]));
}
