import type { Event, PendingCall, Usage } from "capstan";
import { approvalId } from "../call-ids.ts";
import { type ShowError, unsaid } from "../chat/chat-events.ts";
import { type AgUiEvent, agUiSpeaker, type Speaker } from "./ag-ui-encoder.ts";

/*
 * AG-UI 1.0: `data: JSON` for each event. A request is a run of that protocol; a run of ours that waits for somebody ends
 * the one that is read, and goes on with the next. A turn is a step, and its message has its calls. A nested run is a
 * sub-agent: its events have its id. What the protocol has no event for is `CUSTOM`. A message that a model says anew stays
 * as it was shown, `CUSTOM message_restart` names it, and the new one has another id.
 */

/** What becomes of each event. */
export const agUiMapping: Readonly<Record<string, string>> = {
  run_start: "RUN_STARTED; of a nested run SUBAGENT_STARTED",
  turn_start: "STEP_STARTED",
  content_delta: "TEXT_MESSAGE_START, _CONTENT, _END",
  reasoning_delta: "REASONING_START, REASONING_MESSAGE_START, _CONTENT, _END, REASONING_END",
  tool_call_delta: "TOOL_CALL_START, TOOL_CALL_ARGS",
  message: "TOOL_CALL_END; CUSTOM citations",
  message_restart: "CUSTOM message_restart",
  tool_progress: "CUSTOM tool_progress",
  tool_call_result: "TOOL_CALL_RESULT; ACTIVITY_SNAPSHOT for a ui hint",
  approval_required: "RUN_FINISHED with the outcome interrupt, at the next rest",
  handoff: "CUSTOM handoff",
  steered: "TEXT_MESSAGE_* of the user",
  turn_end: "STEP_FINISHED",
  waiting: "RUN_FINISHED: interrupt, or success with pendingToolCallIds",
  done: "RUN_FINISHED with usage (success, cancelled) or RUN_ERROR; SUBAGENT_FINISHED or SUBAGENT_ERROR",
};

export type AgUiOptions = {
  /** As the client calls them. */
  readonly threadId: string;
  readonly runId: string;
  /** The calls that the client has seen already. */
  readonly shown?: Iterable<string>;
  /** Those that it has just answered itself. */
  readonly answered?: Iterable<string>;
  /** The tools that the client runs: it is told of a call when it is whole. */
  readonly clientTools?: ReadonlySet<string>;
  readonly showError?: ShowError;
};

/** Turns the events of a run, or of what is left of it, into those of the protocol. */
export interface AgUiStream {
  begin(): readonly AgUiEvent[];
  hear(event: Event): readonly AgUiEvent[];
  /** There is nothing more to hear: says what the run waits for, unless it has ended. */
  end(pending: readonly PendingCall[]): readonly AgUiEvent[];
}

/** An event as it is written. */
export function agUiFrame(event: AgUiEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

type Done = Extract<Event, { readonly type: "done" }>;

/** For one answer to one request. */
export function agUiStream({ threadId, runId, showError, ...options }: AgUiOptions): AgUiStream {
  const speakers = new Map<string, Speaker>();
  const shared = {
    shown: new Set(options.shown),
    answered: new Set(options.answered),
    clientTools: options.clientTools ?? new Set<string>(),
  };
  const used = usageByModel();
  let isOver = false;

  /** Whose event it is; a sub-agent that is heard of for the first time is introduced. */
  function introduced(event: Event): readonly [Speaker, readonly AgUiEvent[]] {
    const known = speakers.get(event.runId);
    if (known) return [known, []];
    const isNested = event.parentRunId !== undefined;
    const speaker = agUiSpeaker(event.runId, { ...shared, isNested });
    speakers.set(event.runId, speaker);
    return [speaker, isNested ? [subagentStart(event, speakers)] : []];
  }
  /** Nothing is left open: what has not ended will go on in another run of the protocol. */
  function closeAll(pending: readonly PendingCall[] = []): readonly AgUiEvent[] {
    return [...speakers].toReversed().flatMap(([id, speaker]) => {
      speakers.delete(id);
      if (!speaker.isNested) return speaker.close();
      const interruptIds = pending.filter((call) => call.runId === id && call.digest).map(approvalId);
      const outcome = { type: "suspended", ...(interruptIds.length > 0 && { interruptIds }) };
      return [...speaker.close(), { type: "SUBAGENT_FINISHED", subagentRunId: id, outcome }];
    });
  }
  function done(event: Done, speaker: Speaker): readonly AgUiEvent[] {
    const { status, error, text, output } = event;
    const isAnswered = status === "done" || status === "limit";
    const failure = error ?? { code: status, message: text };
    const { code, message } = showError?.(failure) ?? failure;
    const last = isAnswered ? speaker.add(unsaid(speaker.last(), text)) : [];
    if (speaker.isNested) {
      speakers.delete(event.runId);
      const end = isAnswered
        ? { type: "SUBAGENT_FINISHED", result: output ?? text, outcome: { type: "success" } }
        : { type: "SUBAGENT_ERROR", message, code };
      return [...last, ...speaker.close(), { ...end, subagentRunId: event.runId }];
    }
    isOver = true;
    if (status === "failed") return [...closeAll(), { type: "RUN_ERROR", message, code, usage: used.all() }];
    const outcome = { type: isAnswered ? "success" : "cancelled" };
    const finished = { type: "RUN_FINISHED", threadId, runId, outcome, usage: used.all() };
    return [...last, ...closeAll(), isAnswered ? { ...finished, result: output ?? text } : finished];
  }

  return {
    begin: () => [{ type: "RUN_STARTED", threadId, runId, protocolVersion: "1.0" }],
    hear(event) {
      used.hear(event);
      const [speaker, introduction] = introduced(event);
      return [...introduction, ...(event.type === "done" ? done(event, speaker) : speaker.hear(event))];
    },
    end(pending) {
      if (isOver) return [];
      const outcome = outcomeOf(pending);
      return [...closeAll(pending), { type: "RUN_FINISHED", threadId, runId, outcome, usage: used.all() }];
    },
  };
}

function subagentStart(event: Event, speakers: ReadonlyMap<string, Speaker>): AgUiEvent {
  const { runId, agent, parentRunId = "", parentCallId } = event;
  return {
    type: "SUBAGENT_STARTED",
    subagentRunId: runId,
    name: agent,
    ...(parentCallId !== undefined && { parentToolCallId: parentCallId }),
    ...(speakers.get(parentRunId)?.isNested && { parentSubagentRunId: parentRunId }),
  };
}

/** What the client must bring for the run to go on. */
function outcomeOf(pending: readonly PendingCall[]): object {
  const asked = pending.filter(({ needs }) => needs === "approval");
  if (asked.length > 0) return { type: "interrupt", interrupts: asked.map(interruptOf) };
  return { type: "success", pendingToolCallIds: pending.map(({ callId }) => callId) };
}

function interruptOf(call: PendingCall): object {
  const { callId, name, input, shown, reason, question, runId } = call;
  const value = question ? { value: question.schema ?? {} } : {};
  return {
    id: approvalId(call),
    reason: question ? "input_required" : "tool_call",
    message: question?.message ?? reason,
    toolCallId: callId,
    ...(runId !== undefined && { subagentRunId: runId }),
    responseSchema: {
      type: "object",
      properties: { approved: { type: "boolean" }, reason: { type: "string" }, ...value },
      required: ["approved"],
    },
    metadata: { name, input, shown, ...(question?.url !== undefined && { url: question.url }) },
  };
}

/** What each model has used, in the order of their first words. */
function usageByModel() {
  const sums = new Map<string, Required<Pick<Usage, "inputTokens" | "outputTokens">> & Usage>();
  return {
    hear(event: Event): void {
      if (!("usage" in event) || !("model" in event) || !event.usage || event.model === undefined) return;
      const { usage, model } = event;
      const before = sums.get(model) ?? { inputTokens: 0, outputTokens: 0 };
      sums.set(model, {
        inputTokens: before.inputTokens + usage.inputTokens,
        outputTokens: before.outputTokens + usage.outputTokens,
        cachedTokens: (before.cachedTokens ?? 0) + (usage.cachedTokens ?? 0),
        reasoningTokens: (before.reasoningTokens ?? 0) + (usage.reasoningTokens ?? 0),
      });
    },
    all: (): readonly object[] =>
      [...sums].map(([model, { inputTokens, outputTokens, cachedTokens, reasoningTokens }]) => ({
        ...{ model, inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
        ...{ cachedInputTokens: cachedTokens, reasoningTokens },
      })),
  };
}
