import type { Clock } from "../../base/clock.ts";
import type { Json } from "../../base/json.ts";
import type { Agent } from "../../kernel/agent.ts";
import type { DeltaBody, FactBody } from "../../kernel/event.ts";
import type { Citation } from "../../kernel/history.ts";
import { type CitedSource, type HostedCall, hostedNames, hostedReads } from "../../kernel/hosted-tool.ts";
import { addLabels, createLabels, type Labels } from "../../kernel/provenance.ts";
import type { State, TurnState } from "../../kernel/state.ts";
import type { Reads } from "../../kernel/tool.ts";

/** Collects the calls that the provider executes while a message streams, and the sources that its text cites. */
export interface HostedTracker {
  /** Returns the delta that shows the call, if there is something new to show. */
  addCall(call: HostedCall): DeltaBody | undefined;
  /** Returns the delta for a source that is cited for the first time in this message. */
  addCitation(source: CitedSource): DeltaBody | undefined;
  getCitations(): readonly Citation[];
  /** The labels that the results add to the conversation. */
  getLabels(): Labels;
  /** Builds the facts of the calls. In a final message every call ends; in a partial one, some may still be running. */
  buildFacts(isFinal: boolean): readonly FactBody[];
}

export type HostedTrackerOptions = {
  readonly agent: Agent;
  readonly state: State;
  readonly clock: Clock;
  /** Assigns a call its id, unique in the session. */
  nameCall(providerId: string | undefined, index: number): string;
};

type TrackedCall = Omit<HostedCall, "name" | "input"> & {
  readonly id: string;
  readonly name: string;
  readonly input: Json | undefined;
  readonly startedAt: number;
  readonly ms: number;
};

export function createHostedTracker(options: HostedTrackerOptions): HostedTracker {
  const { agent, state, clock, nameCall } = options;
  const calls = new Map<unknown, TrackedCall>();
  const citations = new Map<string, Citation>();
  /** Calls of an earlier part of this message that have not ended yet. */
  const open: OpenCalls = state.run?.currentTurn?.hosted ?? new Map();

  function addCall(call: HostedCall): DeltaBody | undefined {
    const now = clock.monotonic();
    const key = call.id ?? calls.size;
    const known = calls.get(key);
    const id = known?.id ?? nameCall(call.id, calls.size);
    const earlier = known ?? open.get(id);
    const name = call.name ?? earlier?.name ?? findHostedTool(agent, call)?.name ?? hostedNames[call.kind];
    const input = call.input ?? earlier?.input;
    const startedAt = known?.startedAt ?? now;
    calls.set(key, { ...known, ...call, id, name, input, startedAt, ms: now - startedAt });
    const isInputNew = call.input !== undefined && earlier?.input === undefined;
    if (earlier && !isInputNew) return undefined;
    return { type: "tool_call_delta", id, name, delta: isInputNew ? JSON.stringify(call.input) : "" };
  }

  function addCitation({ id, title, url }: CitedSource): DeltaBody | undefined {
    if (citations.has(id)) return undefined;
    const { numbers } = state;
    const added = [...citations.values()].filter(({ n }) => n > numbers.size).length;
    const n = numbers.get(id) ?? numbers.size + added + 1;
    const source = { title, ...(url !== undefined && { url }) };
    citations.set(id, { n, id, ...source });
    return { type: "citation", n, id, source };
  }

  return {
    addCall,
    addCitation,
    getCitations: () => [...citations.values()],
    getLabels() {
      const labels = createLabels();
      const turn = state.run?.turn ?? 0;
      for (const call of calls.values())
        addLabels(labels, getReads(agent, call), { tool: call.name, turn, input: call.input ?? {} });
      return labels;
    },
    buildFacts: (isFinal) => [
      ...[...calls.values()].flatMap((call) => [
        ...(open.has(call.id) ? [] : [buildStart(call)]),
        ...(call.outcome || isFinal ? [buildResult(agent, call)] : []),
      ]),
      ...(isFinal ? buildInterruptions(open, [...calls.values()]) : []),
    ],
  };
}

type OpenCalls = NonNullable<TurnState["hosted"]>;

function findHostedTool({ hosted = [] }: Agent, { kind }: Pick<HostedCall, "kind">) {
  return hosted.find((tool) => tool.kind === kind);
}

function getReads(agent: Agent, call: Pick<HostedCall, "kind">): readonly Reads[] {
  return findHostedTool(agent, call)?.options.reads ?? hostedReads[call.kind];
}

function buildStart({ id, name, input = {} }: TrackedCall): FactBody {
  return { type: "tool_call_start", id, name, arguments: input, attempt: 1, hosted: true };
}

function buildResult(agent: Agent, call: TrackedCall): FactBody {
  const { id, name, ms, outcome } = call;
  if (!outcome) return buildInterruption(id, name);
  const { isError, data } = outcome;
  const text = shortenText(outcome.text);
  const reads = getReads(agent, call).filter((label) => label !== "public");
  return {
    ...{ type: "tool_call_result", id, name, result: text, is_error: isError },
    ...{ status: isError ? "error" : "ok", attempts: 1, ms, hosted: true },
    ...(data !== undefined && { data }),
    ...(isError && { error: { code: "tool_failed", message: text, retryable: false } }),
    ...(reads.length > 0 && { reads }),
  };
}

/** Ends the calls that an earlier part of the message started and that the rest does not mention. */
function buildInterruptions(open: OpenCalls, calls: readonly TrackedCall[]): readonly FactBody[] {
  return [...open].flatMap(([id, { name }]) =>
    calls.some((call) => call.id === id) ? [] : buildInterruption(id, name),
  );
}

function buildInterruption(id: string, name: string): FactBody {
  const result = "The provider reported no result.";
  const outcome = { result, is_error: true, status: "interrupted", attempts: 1, ms: 0 } as const;
  return { type: "tool_call_result", id, name, ...outcome, hosted: true };
}

/** Longer results are cut in the facts; the model reads the provider's own copy. */
const maxTextLength = 4_000;

function shortenText(text: string): string {
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength).toWellFormed()}…` : text;
}
