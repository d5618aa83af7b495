import {
  type Attributes,
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { Json } from "../base/json.ts";
import type { Fact, Origin } from "../kernel/event.ts";
import { buildCommonAttributes, type Operation, type SpanNaming } from "./attributes.ts";
import type { RunIds } from "./run-ids.ts";

/** Tracer, ids and masking used to create spans. */
export type SpanFactory = SpanNaming & {
  readonly tracer: Tracer;
  readonly ids: RunIds | undefined;
  /** Whether spans include message content. */
  readonly content: boolean;
  /** Masks every string in a value. */
  maskValue(value: Json): Json;
  /** Serializes a masked value as JSON. */
  toMaskedJson(value: unknown): string;
};

/** Parent and links of a segment's first span. */
export type SpanStart = {
  readonly parent: Context;
  readonly links: Link[];
  /** True when the run starts: the span has no parent, and its ids derive from the run id. */
  readonly isFirst: boolean;
};

/** The open spans of one run segment. */
export interface RunSpans {
  readonly origin: Origin;
  /** False if the spans are not sampled; nothing needs to be computed for them then. */
  readonly isRecording: boolean;
  /** Returns the context of an open call's span, or of the current agent's span. */
  getContext(callId?: string): Context;
  /** Starts a span below the current agent's. The caller ends it. */
  add(operation: Operation, options: SpanOptions): Span;
  startCall(fact: Fact, id: string, name: string): Span;
  /** Removes and returns the open span of a call. */
  takeCall(id: string): Span | undefined;
  /** Makes another agent the current one. */
  push(fact: Fact, agent: string, isTransfer: boolean): void;
  pop(fact: Fact, agent: string): void;
  /** Adds an event to the current agent's span. */
  addEvent(name: string, at: number, attributes?: Attributes): void;
  /** The first span of this segment. */
  readonly first: Span;
  end(at: number): void;
}

export type SpanOptions = {
  readonly origin: Origin;
  readonly name: string;
  readonly from: number;
  readonly attributes: Attributes;
};

/** Converts to a `Date`: OpenTelemetry reads small numbers as time since process start. */
export const toDate = (at: number): Date => new Date(at);

/** Marks a span as failed, without the error message, which counts as content. */
export function markFailed(span: Span, type: string): void {
  span.setAttribute("error.type", type).setStatus({ code: SpanStatusCode.ERROR });
}

/** Opens the spans of a run segment. */
export function openRunSpans(factory: SpanFactory, fact: Fact, start: SpanStart): RunSpans {
  const { tracer } = factory;
  const origin: Origin = { ...fact };
  const first = startFirstSpan(factory, fact, start);
  const agents = [{ agent: fact.agent, span: first }];
  const calls = new Map<string, Span>();

  const getCurrentSpan = () => agents.at(-1)?.span ?? first;
  const getContext = (callId?: string) => {
    const call = callId === undefined ? undefined : calls.get(callId);
    return trace.setSpan(ROOT_CONTEXT, call ?? getCurrentSpan());
  };

  function add(operation: Operation, { origin: spanOrigin, name, from, attributes }: SpanOptions): Span {
    const all = { ...buildCommonAttributes(operation, spanOrigin, factory), ...attributes };
    const kind = operation === "chat" ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const options = { kind, startTime: toDate(from), attributes: all };
    return tracer.startSpan(`${operation} ${factory.name(name)}`, options, getContext());
  }
  const pushAgent = (at: Fact, agent: string) =>
    agents.push({
      agent,
      span: add("invoke_agent", { origin: { ...at, agent }, name: agent, from: at.at, attributes: {} }),
    });
  return {
    origin,
    first,
    isRecording: first.isRecording(),
    getContext,
    add,
    startCall(callFact, id, name) {
      const previous = calls.get(id);
      if (previous) {
        markFailed(previous, "interrupted");
        previous.end(toDate(callFact.at));
      }
      const attributes = buildCallAttributes(factory, id, name);
      const span = add("execute_tool", { origin: callFact, name, from: callFact.at, attributes });
      calls.set(id, span);
      return span;
    },
    takeCall(id) {
      const span = calls.get(id);
      calls.delete(id);
      return span;
    },
    push(at, agent, isTransfer) {
      // After a transfer the previous agent is finished.
      if (isTransfer && agents.length > 1) agents.pop()?.span.end(toDate(at.at));
      pushAgent(at, agent);
    },
    pop(at, agent) {
      if (agents.length > 1) agents.pop()?.span.end(toDate(at.at));
      // The handoff happened in an earlier segment, so this agent has no span here yet.
      else if (agents[0]?.agent !== agent) pushAgent(at, agent);
    },
    addEvent(name, at, attributes) {
      getCurrentSpan().addEvent(name, attributes, toDate(at));
    },
    end(at) {
      for (const span of calls.values()) span.end(toDate(at));
      calls.clear();
      for (const { span } of agents.splice(0).reverse()) span.end(toDate(at));
    },
  };
}

/** Attributes of a tool call span. */
export function buildCallAttributes({ name }: SpanNaming, id: string, tool: string): Attributes {
  return {
    "gen_ai.tool.name": name(tool),
    "gen_ai.tool.call.id": name(id),
    "gen_ai.tool.type": "function",
  };
}

function startFirstSpan(factory: SpanFactory, fact: Fact, { parent, links, isFirst }: SpanStart): Span {
  const { tracer, ids } = factory;
  const options = {
    kind: SpanKind.INTERNAL,
    startTime: toDate(fact.at),
    attributes: buildCommonAttributes("invoke_agent", fact, factory),
    links,
  };
  const name = `invoke_agent ${factory.name(fact.agent)}`;
  if (!isFirst || !ids) return tracer.startSpan(name, options, parent);
  return ids.first(fact.runId, () => tracer.startSpan(name, { ...options, root: true }, parent));
}
