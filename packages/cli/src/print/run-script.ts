import { AgentError, type Result, type Run } from "capstan";
import type { ScriptFlags } from "../commands/start-flags.ts";
import { errorExitCode, errorWords, isAgentError } from "../errors/format-error.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { type ChosenSession, chooseSession } from "../sessions/choose-session.ts";
import { harmless } from "../terminal/escape-terminal.ts";
import { within } from "../workspace/wait-at-most.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { includeFiles } from "./include-files.ts";
import { type Interruption, interruption } from "./interruption.ts";
import { readPrompt } from "./read-prompt.ts";
import { readSchema } from "./read-schema.ts";
import { type Begun, goOn } from "./resume-run.ts";
import { type ScriptOutput, scriptOutput } from "./script-output.ts";
import { type StrayFailure, strayFailure } from "./watch-unhandled-errors.ts";

// So long a step that is under way may take to end by itself; what it has not said by then is asked for again.
const patienceMs = 1_000;

/** One run, from flags and pipes to stdout. */
export async function runScript(flags: ScriptFlags, io: Io): Promise<ExitCode> {
  const output = scriptOutput(flags, io);
  const stop = interruption(io);
  const strays = strayFailure(io);
  const desk: Desk = { output, stop, strays };
  const exitCode = await scripted(flags, io, desk).catch((error: unknown) => {
    const code = isAgentError(error) ? error.code : "internal";
    output.failed({ code, message: error instanceof Error ? error.message : String(error) });
    io.stderr.write(`capstan: ${harmless(errorWords(error, io.env))}\n`);
    return errorExitCode(error);
  });
  strays.settle();
  // The result is said: what fails from here on must not be taken for another one.
  const isClosed = await closed(desk, io);
  stop.close();
  strays.close();
  return exitCode === exitCodes.ok && (!isClosed || strays.isHeard()) ? exitCodes.failure : exitCode;
}

type Desk = {
  readonly output: ScriptOutput;
  readonly stop: Interruption;
  readonly strays: StrayFailure;
  /** To be closed, once there is one. */
  workspace?: Workspace;
  /** Left before its end: nobody waits for what hangs. */
  isCut?: boolean;
};

async function scripted(flags: ScriptFlags, io: Io, desk: Desk): Promise<ExitCode> {
  const { output, stop, strays } = desk;
  const prepared = await Promise.race([prepare(flags, io), stop.first, strays.first]);
  if (typeof prepared === "string") return exitCodes.interrupted;
  const { workspace, prompt } = prepared;
  desk.workspace = workspace;
  for (const notice of workspace.notices) io.stderr.write(`${harmless(notice)}\n`);
  const chosen = await chooseSession(flags, workspace, io);
  const { run } = await begun({ flags, prompt, chosen, workspace, io });
  const telling = told(run, output);
  desk.isCut = true;
  const ended = await Promise.race([telling, stop.first, strays.first]).catch(async (error: unknown) => {
    // Whoever is told that it failed does not expect a server to go on with it.
    if (strays.isHeard()) {
      run.cancel("Code that nobody waits for has failed.");
      await within(telling, patienceMs);
    }
    throw error;
  });
  if (typeof ended === "string") {
    await putDown(workspace, stop);
    if (ended === "signal") io.stderr.write(`\nInterrupted. ${nextStep(flags, chosen.id)}\n`);
    return exitCodes.interrupted;
  }
  desk.isCut = false;
  output.result(ended);
  sayEnd(ended, io);
  return exitCodeOf(ended);
}

/** Closes what was opened; says on stderr why it could not, and gives false then. */
async function closed({ workspace, isCut }: Desk, io: Io): Promise<boolean> {
  if (!workspace) return true;
  try {
    const closing = workspace.close();
    await (isCut ? within(closing, 300) : closing);
    return true;
  } catch (error) {
    io.stderr.write(`capstan: it was not closed well: ${harmless(errorWords(error, io.env))}\n`);
    return false;
  }
}

type Prepared = { readonly workspace: Workspace; readonly prompt: string | undefined };

async function prepare(flags: ScriptFlags, io: Io): Promise<Prepared> {
  if (flags.resume === true) {
    const message = "Without a terminal --resume needs an id: `capstan sessions list` shows them.";
    throw new AgentError("invalid_input", message);
  }
  const { outputSchema } = flags;
  const answerSchema = outputSchema === undefined ? undefined : readSchema(outputSchema, io);
  const prompt = await readPrompt(flags, io);
  return { prompt, workspace: await openWorkspace({ ...flags, answerSchema, isScript: true }, io) };
}

function nextStep({ session }: ScriptFlags, id: string): string {
  return session === false ? "Nothing was kept." : `To go on: capstan --resume ${id}`;
}

type Beginning = {
  readonly flags: ScriptFlags;
  readonly prompt: string | undefined;
  readonly chosen: ChosenSession;
  readonly workspace: Workspace;
  readonly io: Io;
};

async function begun({ flags, prompt, chosen, workspace, io }: Beginning): Promise<Begun> {
  const { input = undefined, unknown = [] } = prompt === undefined ? {} : await includeFiles(prompt, io.cwd);
  for (const name of unknown) io.stderr.write(harmless(`@${name} is no file here, so it stays a word.\n`));
  if (chosen.unfinished) return goOn({ run: chosen.unfinished, input, approve: flags.approve, workspace });
  if (input === undefined)
    throw new AgentError(
      "invalid_input",
      'There is nothing to say: give a prompt, as in capstan -p "…", or pipe one in.',
    );
  return { run: workspace.engine.run(workspace.agent, input, { session: chosen.id }) };
}

async function told(run: Run, output: ScriptOutput): Promise<Result> {
  for await (const event of run) output.event(event);
  return run;
}

/** The run is not cancelled: what it has done is stored, and somebody may go on with it. */
async function putDown({ engine, logs }: Workspace, { second }: Interruption): Promise<void> {
  await Promise.race([within(engine.close(), patienceMs), second]);
  await within(logs.flush(), 300);
}

function exitCodeOf({ status, pending }: Result): ExitCode {
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

function sayEnd({ status, text, error, pending, sessionId }: Result, io: Io): void {
  const say = (words: string) => void io.stderr.write(`${harmless(words)}\n`);
  if (status === "limit") say(`A limit was reached: ${error?.message ?? text}`);
  if (status === "failed" || status === "cancelled") say(`capstan: ${error?.message ?? text}`);
  if (status !== "waiting") return;
  for (const { name, shown, reason } of pending) say(`Needs approval: ${name} ${shown} (${reason})`);
  if (pending.length === 0) say(`${text} To go on: capstan --resume ${sessionId} -p`);
  else {
    say(`To decide in a terminal: capstan --resume ${sessionId}`);
    say(`To allow or refuse all of it: capstan --resume ${sessionId} -p --approve all (or none)`);
  }
}
