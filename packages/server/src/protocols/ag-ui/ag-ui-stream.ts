import type { Event, PendingCall, Usage } from "capstan";
import { buildApprovalId } from "../call-ids.ts";
import { type ErrorFormatter, getMissingText } from "../chat/chat-events.ts";
import { type AgUiEncoder, type AgUiEvent, createAgUiEncoder } from "./ag-ui-encoder.ts";

/*
 * AG-UI 1.0: `data: JSON` for each event. A request is an AG-UI run; when our run waits for input, the AG-UI run
 * ends, and the next one continues it. A turn is a step, and its message contains its calls. A nested run is a
 * sub-agent; its events carry its id. Everything without an AG-UI event is `CUSTOM`. A restarted message stays
 * visible: `CUSTOM message_restart` names it, and the new message has another id.
 */

/** Maps each event, for the documentation. */
export const agUiMapping: Readonly<Record<string, string>> = {
  run_start: "RUN_STARTED; SUBAGENT_STARTED for a nested run",
  turn_start: "STEP_STARTED",
  content_delta: "TEXT_MESSAGE_START, _CONTENT, _END",
  reasoning_delta: "REASONING_START, REASONING_MESSAGE_START, _CONTENT, _END, REASONING_END",
  tool_call_delta: "TOOL_CALL_START, TOOL_CALL_ARGS",
  message: "TOOL_CALL_END; CUSTOM citations",
  message_restart: "CUSTOM message_restart",
  tool_progress: "CUSTOM tool_progress",
  tool_call_result: "TOOL_CALL_RESULT; ACTIVITY_SNAPSHOT for a ui hint",
  approval_required: "RUN_FINISHED with the outcome interrupt, when the run suspends",
  retry: "CUSTOM retry",
  handoff: "CUSTOM handoff",
  steered: "TEXT_MESSAGE_* of the user",
  turn_end: "STEP_FINISHED",
  waiting: "RUN_FINISHED: interrupt, or success with pendingToolCallIds; CUSTOM waiting until a time",
  done: "RUN_FINISHED with usage (success, cancelled) or RUN_ERROR; SUBAGENT_FINISHED or SUBAGENT_ERROR",
};

export type AgUiOptions = {
  /** Ids chosen by the client. */
  readonly threadId: string;
  readonly runId: string;
  /** Calls that the client already has. */
  readonly shown?: Iterable<string>;
  /** Calls that the client has just answered. */
  readonly answered?: Iterable<string>;
  /** Client-side tools; a call is sent when it is complete. */
  readonly clientTools?: ReadonlySet<string>;
  readonly formatError?: ErrorFormatter;
};

/** Encodes the events of a run, from any point of it. */
export interface AgUiStream {
  begin(): readonly AgUiEvent[];
  encode(event: Event): readonly AgUiEvent[];
  /** Ends the stream. Reports pending calls unless the run has ended. */
  end(pending: readonly PendingCall[]): readonly AgUiEvent[];
}

export function formatAgUiFrame(event: AgUiEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

type Done = Extract<Event, { readonly type: "done" }>;

export function createAgUiStream({ threadId, runId, formatError, ...options }: AgUiOptions): AgUiStream {
  const encoders = new Map<string, AgUiEncoder>();
  const shared = {
    shown: new Set(options.shown),
    answered: new Set(options.answered),
    clientTools: options.clientTools ?? new Set<string>(),
  };
  const used = createUsageByModel();
  let isOver = false;

  /** Returns the encoder of an event; introduces a new sub-agent. */
  function getEncoder(event: Event): readonly [AgUiEncoder, readonly AgUiEvent[]] {
    const known = encoders.get(event.runId);
    if (known) return [known, []];
    const isNested = event.parentRunId !== undefined;
    const speaker = createAgUiEncoder(event.runId, { ...shared, isNested });
    encoders.set(event.runId, speaker);
    return [speaker, isNested ? [buildSubagentStart(event, encoders)] : []];
  }
  /** Closes everything open; unfinished runs continue in another AG-UI run. */
  function closeAll(pending: readonly PendingCall[] = []): readonly AgUiEvent[] {
    return [...encoders].toReversed().flatMap(([id, speaker]) => {
      encoders.delete(id);
      if (!speaker.isNested) return speaker.close();
      const interruptIds = pending.filter((call) => call.runId === id && call.digest).map(buildApprovalId);
      const outcome = { type: "suspended", ...(interruptIds.length > 0 && { interruptIds }) };
      return [...speaker.close(), { type: "SUBAGENT_FINISHED", subagentRunId: id, outcome }];
    });
  }
  function encodeDone(event: Done, speaker: AgUiEncoder): readonly AgUiEvent[] {
    const { status, error, text, output } = event;
    const isAnswered = status === "done" || status === "limit";
    const failure = error ?? { code: status, message: text };
    const { code, message } = formatError?.(failure) ?? failure;
    const last = isAnswered ? speaker.addMessage(getMissingText(speaker.getLastText(), text)) : [];
    if (speaker.isNested) {
      encoders.delete(event.runId);
      const end = isAnswered
        ? { type: "SUBAGENT_FINISHED", result: output ?? text, outcome: { type: "success" } }
        : { type: "SUBAGENT_ERROR", message, code };
      return [...last, ...speaker.close(), { ...end, subagentRunId: event.runId }];
    }
    isOver = true;
    if (status === "failed") return [...closeAll(), { type: "RUN_ERROR", message, code, usage: used.list() }];
    const outcome = { type: isAnswered ? "success" : "cancelled" };
    const finished = { type: "RUN_FINISHED", threadId, runId, outcome, usage: used.list() };
    return [...last, ...closeAll(), isAnswered ? { ...finished, result: output ?? text } : finished];
  }

  return {
    begin: () => [{ type: "RUN_STARTED", threadId, runId, protocolVersion: "1.0" }],
    encode(event) {
      used.add(event);
      const [speaker, introduction] = getEncoder(event);
      return [
        ...introduction,
        ...(event.type === "done" ? encodeDone(event, speaker) : speaker.encode(event)),
      ];
    },
    end(pending) {
      if (isOver) return [];
      const outcome = buildOutcome(pending);
      return [...closeAll(pending), { type: "RUN_FINISHED", threadId, runId, outcome, usage: used.list() }];
    },
  };
}

function buildSubagentStart(event: Event, speakers: ReadonlyMap<string, AgUiEncoder>): AgUiEvent {
  const { runId, agent, parentRunId = "", parentCallId } = event;
  return {
    type: "SUBAGENT_STARTED",
    subagentRunId: runId,
    name: agent,
    ...(parentCallId !== undefined && { parentToolCallId: parentCallId }),
    ...(speakers.get(parentRunId)?.isNested && { parentSubagentRunId: parentRunId }),
  };
}

/** Describes the input that the run waits for. */
function buildOutcome(pending: readonly PendingCall[]): object {
  const asked = pending.filter(({ needs }) => needs === "approval");
  if (asked.length > 0) return { type: "interrupt", interrupts: asked.map(buildInterrupt) };
  return { type: "success", pendingToolCallIds: pending.map(({ callId }) => callId) };
}

function buildInterrupt(call: PendingCall): object {
  const { callId, name, input, shown, reason, question, runId, expiresAt } = call;
  const value = question ? { value: question.schema ?? {} } : {};
  return {
    id: buildApprovalId(call),
    reason: question ? "input_required" : "tool_call",
    message: question?.message ?? reason,
    toolCallId: callId,
    ...(runId !== undefined && { subagentRunId: runId }),
    responseSchema: {
      type: "object",
      properties: { approved: { type: "boolean" }, reason: { type: "string" }, ...value },
      required: ["approved"],
    },
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
    metadata: { name, input, shown, ...(question?.url !== undefined && { url: question.url }) },
  };
}

/** Sums usage by model, in order of first use. */
function createUsageByModel() {
  const sums = new Map<string, Required<Pick<Usage, "inputTokens" | "outputTokens">> & Usage>();
  return {
    add(event: Event): void {
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
    list: (): readonly object[] =>
      [...sums].map(([model, { inputTokens, outputTokens, cachedTokens, reasoningTokens }]) => ({
        ...{ model, inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
        ...{ cachedInputTokens: cachedTokens, reasoningTokens },
      })),
  };
}
