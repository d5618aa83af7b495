import { AgentError, type Result, type Run, type RunInfo, type RunInput } from "capstan";
import { findFailedRun } from "../sessions/find-session.ts";
import type { Workspace, WorkspaceFlags } from "../workspace/workspace.ts";

/** An unfinished run and the new input for it. */
export type ResumeRunOptions = {
  readonly run: RunInfo;
  readonly input: RunInput | undefined;
  readonly approve: WorkspaceFlags["approve"];
  readonly workspace: Workspace;
};

/** Wraps the run, which is thenable and would otherwise be awaited when an async function returns it. */
export type StartedRun = { readonly run: Run };

/** Resumes an unfinished run: decides its pending calls, or sends the input as a steering message. */
export async function resumeRun({
  run: unfinished,
  input,
  approve,
  workspace,
}: ResumeRunOptions): Promise<StartedRun> {
  const { runId, state } = unfinished;
  assertAgent(unfinished, workspace);
  const handle = workspace.engine.open(runId);
  if (state === "waiting") {
    const result = await handle;
    if (result.status === "waiting")
      return decidePendingCalls(handle, result, { approve, isSaid: input !== undefined });
  }
  if (typeof input === "string") handle.steer(input);
  else if (input !== undefined)
    throw new AgentError(
      "invalid_input",
      "An unfinished run accepts only text: remove images and files from outside, such as downloads.",
    );
  return { run: handle };
}

/** Continues the session's failed run from the model call that failed. Throws `not_retryable`. */
export async function retryRun(workspace: Workspace, sessionId: string): Promise<StartedRun> {
  const failed = await findFailedRun(workspace, sessionId);
  assertAgent(failed, workspace);
  return { run: workspace.engine.open(failed.runId).retry() };
}

function assertAgent({ agent, sessionId }: RunInfo, { agents }: Workspace): void {
  if (agents.some(({ name }) => name === agent)) return;
  const message = `Session "${sessionId}" has an unfinished run of agent "${agent}", which is not configured here. Run capstan in its folder, or name its config with --config.`;
  throw new AgentError("unknown_agent", message);
}

function decidePendingCalls(
  handle: Run,
  { pending, sessionId }: Result,
  { approve, isSaid }: { readonly approve: WorkspaceFlags["approve"]; readonly isSaid: boolean },
): StartedRun {
  if (approve === "all" || approve === "none") {
    for (const { callId, needs, question } of pending) {
      if (approve === "none") handle.deny(callId, "The user denied it.");
      else if (needs === "approval" && !question) handle.approve(callId);
    }
    return { run: handle };
  }
  if (isSaid) {
    const names = pending.map(({ name }) => name).join(", ");
    const message = `Session "${sessionId}" is waiting for a decision on ${names}. Pass --approve all or --approve none, or decide in a terminal with \`capstan --resume ${sessionId}\`.`;
    throw new AgentError("session_busy", message);
  }
  return { run: handle };
}
