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
import { commonAttributes, type Naming, type Operation } from "./attributes.ts";
import type { RunIds } from "./run-ids.ts";

/** What spans are made with. */
export type SpanMaker = Naming & {
  readonly tracer: Tracer;
  readonly ids: RunIds | undefined;
  /** Whether spans show what was said. */
  readonly content: boolean;
  /** Masks every text of a value. */
  masked(value: Json): Json;
  /** A masked value as JSON text. */
  json(value: unknown): string;
};

/** Where the first span of a leg belongs. */
export type Beginning = {
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
  contextOf(callId?: string): Context;
  /** A span below that of the agent in charge, for the caller to end. */
  add(operation: Operation, part: SpanPart): Span;
  startCall(fact: Fact, id: string, name: string): Span;
  /** The open span of a call, which it then is no longer. */
  takeCall(id: string): Span | undefined;
  /** Another agent is in charge. */
  push(fact: Fact, agent: string, isTransfer: boolean): void;
  pop(fact: Fact, agent: string): void;
  /** Something that happened to the agent in charge. */
  note(name: string, at: number, attributes?: Attributes): void;
  /** The span that the run began or went on with. */
  readonly first: Span;
  end(at: number): void;
}

export type SpanPart = {
  readonly of: Origin;
  readonly name: string;
  readonly from: number;
  readonly attributes: Attributes;
};

/** A number would be taken for the time since the process began, if it is small. */
export const timeOf = (at: number): Date => new Date(at);

/** Marks a span as failed. The message of an error is content, so it has none. */
export function failed(span: Span, type: string): void {
  span.setAttribute("error.type", type).setStatus({ code: SpanStatusCode.ERROR });
}

/** Begins the spans of a run. */
export function runSpans(make: SpanMaker, fact: Fact, beginning: Beginning): RunSpans {
  const { tracer } = make;
  const origin: Origin = { ...fact };
  const first = firstSpan(make, fact, beginning);
  const agents = [{ agent: fact.agent, span: first }];
  const calls = new Map<string, Span>();

  const inCharge = () => agents.at(-1)?.span ?? first;
  const contextOf = (callId?: string) => {
    const call = callId === undefined ? undefined : calls.get(callId);
    return trace.setSpan(ROOT_CONTEXT, call ?? inCharge());
  };

  function add(operation: Operation, { of, name, from, attributes }: SpanPart): Span {
    const all = { ...commonAttributes(operation, of, make), ...attributes };
    const kind = operation === "chat" ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const options = { kind, startTime: timeOf(from), attributes: all };
    return tracer.startSpan(`${operation} ${make.name(name)}`, options, contextOf());
  }
  const pushAgent = (at: Fact, agent: string) =>
    agents.push({
      agent,
      span: add("invoke_agent", { of: { ...at, agent }, name: agent, from: at.at, attributes: {} }),
    });
  return {
    origin,
    first,
    isRecording: first.isRecording(),
    contextOf,
    add,
    startCall(of, id, name) {
      const before = calls.get(id);
      if (before) {
        failed(before, "interrupted");
        before.end(timeOf(of.at));
      }
      const attributes = callAttributes(make, id, name);
      const span = add("execute_tool", { of, name, from: of.at, attributes });
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
      if (isTransfer && agents.length > 1) agents.pop()?.span.end(timeOf(at.at));
      pushAgent(at, agent);
    },
    pop(at, agent) {
      if (agents.length > 1) agents.pop()?.span.end(timeOf(at.at));
      // The handoff was before this leg: the one that goes on has no span in it yet.
      else if (agents[0]?.agent !== agent) pushAgent(at, agent);
    },
    note(name, at, attributes) {
      inCharge().addEvent(name, attributes, timeOf(at));
    },
    end(at) {
      for (const span of calls.values()) span.end(timeOf(at));
      calls.clear();
      for (const { span } of agents.splice(0).reverse()) span.end(timeOf(at));
    },
  };
}

/** What a span of a tool call says. */
export function callAttributes({ name }: Naming, id: string, tool: string): Attributes {
  return {
    "gen_ai.tool.name": name(tool),
    "gen_ai.tool.call.id": name(id),
    "gen_ai.tool.type": "function",
  };
}

function firstSpan(make: SpanMaker, fact: Fact, { parent, links, isFirst }: Beginning): Span {
  const { tracer, ids } = make;
  const options = {
    kind: SpanKind.INTERNAL,
    startTime: timeOf(fact.at),
    attributes: commonAttributes("invoke_agent", fact, make),
    links,
  };
  const name = `invoke_agent ${make.name(fact.agent)}`;
  if (!isFirst || !ids) return tracer.startSpan(name, options, parent);
  return ids.first(fact.runId, () => tracer.startSpan(name, { ...options, root: true }, parent));
}
