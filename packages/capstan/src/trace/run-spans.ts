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
import type { Fact, Origin } from "../event.ts";
import type { Json } from "../json.ts";
import { buildCommonAttributes, type Operation, type SpanNaming } from "./attributes.ts";
import type { RunIds } from "./run-ids.ts";

/** What spans are made with. */
export type SpanFactory = SpanNaming & {
  readonly tracer: Tracer;
  readonly ids: RunIds | undefined;
  /** Whether spans show what was said. */
  readonly content: boolean;
  /** Masks every text of a value. */
  maskValue(value: Json): Json;
  /** A masked value as JSON text. */
  toMaskedJson(value: unknown): string;
};

/** Where the first span of a leg belongs. */
export type SpanStart = {
  readonly parent: Context;
  readonly links: Link[];
  /** Of a run that begins: the span has no parent, and ids that follow from the run. */
  readonly isFirst: boolean;
};

/** The open spans of a run, from where it begins or goes on until it rests. */
export interface RunSpans {
  readonly origin: Origin;
  /** False when nobody keeps the spans: then nothing needs to be made for them. */
  readonly isRecording: boolean;
  /** Below what the agent in charge does, or a call of it that is open. */
  getContext(callId?: string): Context;
  /** A span below that of the agent in charge, for the caller to end. */
  add(operation: Operation, options: SpanOptions): Span;
  startCall(fact: Fact, id: string, name: string): Span;
  /** The open span of a call, which it then is no longer. */
  takeCall(id: string): Span | undefined;
  /** Another agent is in charge. */
  push(fact: Fact, agent: string, isTransfer: boolean): void;
  pop(fact: Fact, agent: string): void;
  /** Something that happened to the agent in charge. */
  addEvent(name: string, at: number, attributes?: Attributes): void;
  /** The span that the run began or went on with. */
  readonly first: Span;
  end(at: number): void;
}

export type SpanOptions = {
  readonly origin: Origin;
  readonly name: string;
  readonly from: number;
  readonly attributes: Attributes;
};

/** A number would be taken for the time since the process began, if it is small. */
export const toDate = (at: number): Date => new Date(at);

/** Marks a span as failed. The message of an error is content, so it has none. */
export function markFailed(span: Span, type: string): void {
  span.setAttribute("error.type", type).setStatus({ code: SpanStatusCode.ERROR });
}

/** Begins the spans of a run. */
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
      // Whoever has handed over for good has nothing more to do.
      if (isTransfer && agents.length > 1) agents.pop()?.span.end(toDate(at.at));
      pushAgent(at, agent);
    },
    pop(at, agent) {
      if (agents.length > 1) agents.pop()?.span.end(toDate(at.at));
      // The handoff was previous this leg: the one that goes on has no span in it yet.
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

/** What a span of a tool call says. */
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
