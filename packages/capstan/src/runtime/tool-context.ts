import { toAnswers } from "../features/approvals/question.ts";
import { getRootState } from "../features/nested/nested-state.ts";
import type { ToolEffect } from "../kernel/effect.ts";
import type { Io } from "../kernel/io.ts";
import { findModelProvenance } from "../kernel/provenance.ts";
import { getRunId } from "../kernel/state.ts";
import type { CallingRun, Reads, ToolContext } from "../kernel/tool.ts";

const unknownReads: readonly Reads[] = ["untrusted", "private"];

/** Creates the second argument of a tool's `execute`. `addedReads` collects the labels of stored results that it reads. */
export function createToolContext(
  effect: ToolEffect,
  io: Io,
  { signal, addedReads }: { readonly signal: AbortSignal; readonly addedReads: Set<Reads> },
): ToolContext {
  const { callId, asked } = effect;
  const runId = getRunId(io.state);
  return {
    signal,
    runId,
    sessionId: io.state.sessionId,
    callId,
    idempotencyKey: `${runId}/${callId}`,
    agent: effect.agent,
    provenance: findModelProvenance(io.state.labels) ?? "operator",
    ...(io.records && { records: io.records }),
    context: io.context,
    run: describeRun(io),
    answers: asked ? toAnswers(asked) : [],
    progress(data) {
      // Ignore progress of a tool that keeps running after a timeout or a cancellation.
      if (!signal.aborted) io.emit({ type: "tool_progress", id: callId, data });
    },
    readBlob(handle) {
      // The origin of other blobs is unknown.
      for (const label of io.state.handles.get(handle) ?? unknownReads) addedReads.add(label);
      return io.blobs.get(handle);
    },
  };
}

function describeRun({ state, clock }: Io): CallingRun {
  return {
    agent: getRootState(state).run?.agent ?? "",
    timeZone: state.run?.timeZone ?? "UTC",
    now: clock.now(),
  };
}
