import { AgentError, isFact, type Result } from "capstan";
import type { StartFlags } from "../commands/start-flags.ts";
import { formatError, getExitCode, isAgentError } from "../errors/format-error.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { type ChosenSession, chooseSession } from "../sessions/choose-session.ts";
import { isWaitingForProvider, waitForWake } from "../sessions/wait-for-wake.ts";
import { escapeTerminal } from "../terminal/escape-terminal.ts";
import { waitAtMost } from "../workspace/wait-at-most.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { includeFiles, type Prompt } from "./include-files.ts";
import { type Interruption, watchInterruption } from "./interruption.ts";
import { readPrompt } from "./read-prompt.ts";
import { readSchema } from "./read-schema.ts";
import { resumeRun, retryRun, type StartedRun } from "./resume-run.ts";
import { saveMedia } from "./save-media.ts";
import { createScriptOutput, type ScriptOutput } from "./script-output.ts";
import { createTerminalOutput } from "./terminal-output.ts";
import { type UnhandledErrorWatch, watchUnhandledErrors } from "./watch-unhandled-errors.ts";

// Time for the current step to finish; an unfinished step is repeated when the run resumes.
const shutdownTimeoutMs = 1_000;

/** Runs one prompt from flags and stdin, and writes the result to stdout. */
export async function runScript(flags: StartFlags, io: Io): Promise<ExitCode> {
  const output = createOutput(flags, io);
  const interruption = watchInterruption(io);
  const unhandledErrors = watchUnhandledErrors(io);
  const context: ScriptContext = { output, interruption, unhandledErrors };
  const exitCode = await runToEnd(flags, io, context).catch((error: unknown) => {
    const code = isAgentError(error) ? error.code : "internal";
    output.writeFailure({ code, message: error instanceof Error ? error.message : String(error) });
    io.stderr.write(`capstan: ${escapeTerminal(formatError(error, io.env))}\n`);
    return getExitCode(error);
  });
  unhandledErrors.settle();
  // The result is written: later failures must not look like a second one.
  const isClosed = await closeWorkspace(context, io);
  interruption.close();
  unhandledErrors.close();
  return exitCode === exitCodes.ok && (!isClosed || unhandledErrors.hasFailed())
    ? exitCodes.failure
    : exitCode;
}

function createOutput(flags: StartFlags, io: Io): ScriptOutput {
  const isData = flags.json || flags.streamJson || flags.outputSchema !== undefined;
  return io.stdout.isTTY && !isData ? createTerminalOutput(io) : createScriptOutput(flags, io);
}

type ScriptContext = {
  readonly output: ScriptOutput;
  readonly interruption: Interruption;
  readonly unhandledErrors: UnhandledErrorWatch;
  /** Closed at the end; undefined until it is opened. */
  workspace?: Workspace;
  /** The run was left before its end: do not wait for hanging work. */
  isInterrupted?: boolean;
};

async function runToEnd(flags: StartFlags, io: Io, context: ScriptContext): Promise<ExitCode> {
  const { output, interruption, unhandledErrors } = context;
  const prepared = await Promise.race([prepare(flags, io), interruption.first, unhandledErrors.first]);
  if (typeof prepared === "string") return exitCodes.interrupted;
  const { workspace, prompt } = prepared;
  context.workspace = workspace;
  for (const notice of workspace.notices) io.stderr.write(`${escapeTerminal(notice)}\n`);
  const chosen = await chooseSession(flags, workspace, io);
  const { run } = await startScriptRun({ flags, prompt, chosen, workspace, io });
  const writing = writeEvents({ run }, workspace, output);
  context.isInterrupted = true;
  const outcome = await Promise.race([writing, interruption.first, unhandledErrors.first]).catch(
    async (error: unknown) => {
      // The run is reported as failed, so no server may resume it.
      if (unhandledErrors.hasFailed()) {
        run.cancel("Unhandled error in a tool or config.");
        await waitAtMost(writing, shutdownTimeoutMs);
      }
      throw error;
    },
  );
  if (typeof outcome === "string") {
    await releaseRun(workspace, interruption);
    if (outcome === "signal") io.stderr.write(`\nInterrupted. ${formatResumeHint(flags, chosen.id)}\n`);
    return exitCodes.interrupted;
  }
  context.isInterrupted = false;
  output.writeResult(outcome);
  if (flags.saveMedia !== undefined) await saveMedia(outcome, { ...workspace, folder: flags.saveMedia }, io);
  reportEnd(outcome, flags, io);
  return getResultExitCode(outcome);
}

/** Closes the workspace. Reports a failure on stderr and returns false. */
async function closeWorkspace({ workspace, isInterrupted: isCut }: ScriptContext, io: Io): Promise<boolean> {
  if (!workspace) return true;
  try {
    const closing = workspace.close();
    await (isCut ? waitAtMost(closing, 300) : closing);
    return true;
  } catch (error) {
    io.stderr.write(`capstan: cleanup failed: ${escapeTerminal(formatError(error, io.env))}\n`);
    return false;
  }
}

type PreparedScript = { readonly workspace: Workspace; readonly prompt: Prompt | undefined };

async function prepare(flags: StartFlags, io: Io): Promise<PreparedScript> {
  if (flags.resume === true) {
    const message = "--resume needs an id without a terminal. Run `capstan sessions list` to list sessions.";
    throw new AgentError("invalid_input", message);
  }
  const { outputSchema } = flags;
  const answerSchema = outputSchema === undefined ? undefined : readSchema(outputSchema, io);
  const prompt = flags.retry ? undefined : await readPrompt(flags, io);
  return { prompt, workspace: await openWorkspace({ ...flags, answerSchema, isScript: true }, io) };
}

function formatResumeHint({ session }: StartFlags, id: string): string {
  return session === false ? "Nothing was stored." : `To resume: capstan --resume ${id}`;
}

type StartOptions = {
  readonly flags: StartFlags;
  readonly prompt: Prompt | undefined;
  readonly chosen: ChosenSession;
  readonly workspace: Workspace;
  readonly io: Io;
};

async function startScriptRun({ flags, prompt, chosen, workspace, io }: StartOptions): Promise<StartedRun> {
  const { input = undefined, unknown = [] } = prompt === undefined ? {} : await includeFiles(prompt, io.cwd);
  for (const name of unknown)
    io.stderr.write(escapeTerminal(`@${name} is not a file; it is sent as text.\n`));
  if (flags.retry) return retryRun(workspace, chosen.id);
  if (chosen.unfinished)
    return resumeRun({ run: chosen.unfinished, input, approve: flags.approve, workspace });
  if (input === undefined)
    throw new AgentError("invalid_input", 'No prompt. Pass one, as in capstan -p "…", or pipe it in.');
  return { run: workspace.engine.run(workspace.agent, input, { session: chosen.id }) };
}

/** Writes the events of a run until it ends or needs an answer. A run that waits for its provider is followed on. */
async function writeEvents(
  { run: started }: StartedRun,
  workspace: Workspace,
  output: ScriptOutput,
): Promise<Result> {
  let run = started;
  let lastSeq = 0;
  for (;;) {
    for await (const event of run) {
      if (isFact(event) && event.seq <= lastSeq) continue;
      if (isFact(event)) lastSeq = event.seq;
      output.writeEvent(event);
    }
    const result = await run;
    if (!isWaitingForProvider(result)) return result;
    await waitForWake(workspace, { runId: result.runId, after: lastSeq });
    run = workspace.engine.open(result.runId);
  }
}

/** Releases the run without cancelling it: finished steps are stored, and it can be resumed. */
async function releaseRun({ engine, flushLogs }: Workspace, { second }: Interruption): Promise<void> {
  await Promise.race([waitAtMost(engine.close(), shutdownTimeoutMs), second]);
  await waitAtMost(flushLogs(), 300);
}

function getResultExitCode({ status, pending }: Result): ExitCode {
  switch (status) {
    case "done":
      return exitCodes.ok;
    case "limit":
      return exitCodes.limit;
    case "waiting":
      return pending.length > 0 ? exitCodes.needsApproval : exitCodes.failure;
    case "failed":
    case "cancelled":
      return exitCodes.failure;
  }
}

function reportEnd(result: Result, { session }: StartFlags, io: Io): void {
  const { status, text, error, pending, sessionId } = result;
  const say = (words: string) => void io.stderr.write(`${escapeTerminal(words)}\n`);
  if (status === "limit") say(`Limit reached: ${error?.message ?? text}`);
  if (status === "failed" || status === "cancelled") say(`capstan: ${error?.message ?? text}`);
  if (result.canRetry && session !== false) say(`To retry: capstan sessions retry ${sessionId}`);
  if (status !== "waiting") return;
  for (const { name, shown, reason } of pending) say(`Needs approval: ${name} ${shown} (${reason})`);
  if (pending.length === 0) say(`${text} To resume: capstan --resume ${sessionId} -p`);
  else {
    say(`To decide in a terminal: capstan --resume ${sessionId}`);
    say(`To allow or deny all: capstan --resume ${sessionId} -p --approve all (or none)`);
  }
}
