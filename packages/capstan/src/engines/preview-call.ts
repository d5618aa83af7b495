import { systemClock } from "../base/clock.ts";
import { AgentError } from "../base/errors.ts";
import { formatInput } from "../base/escape-text.ts";
import { type CallPreview, findCalledTool } from "../features/calls/pending-calls.ts";
import type { Agents } from "../kernel/agent.ts";
import type { RunState, State } from "../kernel/state.ts";
import { checkEdit } from "../runtime/edited-arguments.ts";
import { getPendingCall, toFacts, validateMessage } from "../runtime/messages.ts";
import { createRunMask } from "../runtime/open-run.ts";
import type { PreviewOptions } from "./local-engine.ts";

type PreviewContext = {
  readonly agents: Agents;
  readonly state: State;
  readonly run: RunState;
  readonly now: number;
};

/** Checks a pending call with other arguments. Rejects as an approval with them would. */
export async function previewCall(
  loaded: PreviewContext,
  callId: string,
  { input, context, secrets }: PreviewOptions,
): Promise<CallPreview> {
  const { agents, state, run } = loaded;
  const pending = getPendingCall(agents, run, { callId, needs: "approval" });
  const tool = findCalledTool({ agents, run }, callId, pending.name);
  const withSchema = tool && { inputSchema: tool.schema.json };
  if (input === undefined) return { ...pending, ...withSchema };
  const approval = { type: "approve", callId, input } as const;
  await validateMessage(approval, loaded);
  toFacts(approval, loaded);
  const { check } =
    (await checkEdit({ callId, input }, { agents, state, context, clock: systemClock })) ?? {};
  if (check?.error) {
    const problem = `The changed arguments of call "${callId}" were refused: ${check.error.message} The call still waits.`;
    throw new AgentError("invalid_input", problem);
  }
  const { because: _because, leaks: _leaks, ui: _ui, always: _always, pattern: _pattern, ...call } = pending;
  const found = { reason: "", ...check?.approval };
  const preview = { ...call, input, shown: formatInput(input), ...found, ...withSchema };
  return createRunMask(secrets)?.value(preview) ?? preview;
}
