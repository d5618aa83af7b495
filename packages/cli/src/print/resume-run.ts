import { AgentError, type Result, type Run, type RunInfo, type RunInput } from "capstan";
import type { Workspace, WorkspaceFlags } from "../workspace/workspace.ts";

/** A run that is not over, and what there is to say to it. */
export type ResumeRunOptions = {
  readonly run: RunInfo;
  readonly input: RunInput | undefined;
  readonly approve: WorkspaceFlags["approve"];
  readonly workspace: Workspace;
};

/** A run can be awaited, so it is handed over in something that cannot. */
export type StartedRun = { readonly run: Run };

/** Goes on with it: hears the answer to what it waits for, or takes up what another process has left. */
export async function resumeRun({
  run: unfinished,
  input,
  approve,
  workspace,
}: ResumeRunOptions): Promise<StartedRun> {
  const { runId, agent, sessionId, state } = unfinished;
  if (!workspace.agents.some(({ name }) => name === agent)) {
    const message = `The session "${sessionId}" has an unfinished run of the agent "${agent}", which is not configured here: go to its folder, or name its configuration with --config.`;
    throw new AgentError("unknown_agent", message);
  }
  const handle = workspace.engine.open(runId);
  if (state === "waiting") {
    const result = await handle;
    if (result.status === "waiting")
      return decideCalls(handle, result, { approve, isSaid: input !== undefined });
  }
  if (typeof input === "string") handle.steer(input);
  else if (input !== undefined)
    throw new AgentError(
      "invalid_input",
      "Something is still under way here, and can be told words only: leave out the pictures.",
    );
  return { run: handle };
}

function decideCalls(
  handle: Run,
  { pending, sessionId }: Result,
  { approve, isSaid }: { readonly approve: WorkspaceFlags["approve"]; readonly isSaid: boolean },
): StartedRun {
  if (approve === "all" || approve === "none") {
    for (const { callId, needs, question } of pending) {
      if (approve === "none") handle.deny(callId, "The user refused it.");
      else if (needs === "approval" && !question) handle.approve(callId);
    }
    return { run: handle };
  }
  if (isSaid) {
    const names = pending.map(({ name }) => name).join(", ");
    const message = `The session "${sessionId}" waits for a decision on ${names}: say --approve all or --approve none, or decide in a terminal with \`capstan --resume ${sessionId}\`.`;
    throw new AgentError("session_busy", message);
  }
  return { run: handle };
}
