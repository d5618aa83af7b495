import {
  AgentError,
  type Chunk,
  type Entry,
  isRecord,
  type Model,
  type ModelRequest,
  type StreamOptions,
} from "capstan";
import { type FinishedCall, listFinishedCalls } from "./program-results.ts";
import { openSandbox, type Sandbox } from "./sandbox/open-sandbox.ts";
import type { ProgramCall, ProgramLimits, SandboxReport } from "./sandbox/protocol.ts";

/** More calls than the runtime makes in one turn wait for the next one. */
const maxCallsPerTurn = 64;
/** A process is kept while its calls run. After this time without a turn it is ended; the next turn starts another. */
const maxIdleMs = 10_000;

/** A program that is being executed, and how far it has come. */
type Execution = {
  readonly sandbox: Sandbox;
  readonly startedAt: number;
  /** All calls that the program has made so far. */
  readonly calls: ProgramCall[];
  /** How many of them it has the results of. */
  answered: number;
  /** Absent until the program has started. */
  report?: SandboxReport;
};

export type ProgramModelOptions = {
  readonly code: string;
  readonly tools: readonly string[];
  readonly limits: ProgramLimits;
  /** Default: a new process. */
  readonly open?: typeof openSandbox;
};

/**
 * Creates a model whose answers a program determines: the calls that it waits for are the calls of a turn, and its value
 * is the answer. The program gets the results from the history, so a run continues after a crash by executing the program
 * again; a process that is still there only saves the repetition.
 */
export function createProgramModel(options: ProgramModelOptions): Model {
  const { limits, open = openSandbox } = options;
  let execution: Execution | undefined;
  let idleTimer: ReturnType<typeof setTimeout> | undefined;
  const close = () => {
    execution?.sandbox.close();
    execution = undefined;
  };

  async function* stream(
    { history }: ModelRequest,
    { signal }: StreamOptions,
  ): AsyncGenerator<readonly Chunk[]> {
    clearTimeout(idleTimer);
    signal.addEventListener("abort", close, { once: true });
    try {
      assertProgramSize(options);
      const startedAt = findStartTime(history) ?? Date.now();
      execution ??= { sandbox: open(limits), startedAt, calls: [], answered: 0 };
      const message = await advanceProgram(execution, history, options);
      signal.throwIfAborted();
      yield [...message, noUsage];
      yield [{ type: "finish", reason: execution?.report?.type === "done" ? "end" : "tool_calls" }];
    } catch (thrown) {
      close();
      // An answer before the failure is the text with which the nested run ends, instead of an apology for its model.
      if (thrown instanceof AgentError && thrown.code === "program_failed")
        yield [{ type: "text", text: thrown.message }, noUsage, { type: "finish", reason: "end" }];
      throw thrown;
    } finally {
      signal.removeEventListener("abort", close);
      if (execution?.report?.type === "done") close();
      idleTimer = setTimeout(close, maxIdleMs);
      idleTimer.unref();
    }
  }
  return { id: "program/quickjs", stream };
}

const noUsage: Chunk = { type: "usage", usage: { inputTokens: 0, outputTokens: 0, cost: 0 } };

function assertProgramSize({ code, limits }: ProgramModelOptions): void {
  if (code.length <= limits.maxProgramSize) return;
  throw createProgramError(
    `The program has ${code.length} characters, and the limit is ${limits.maxProgramSize}. Write a shorter one.`,
  );
}

const createProgramError = (message: string): AgentError =>
  new AgentError("program_failed", `The program failed. ${message}`);

/** The first message of the program has its date, so that every execution has the same one. */
function findStartTime(history: readonly Entry[]): number | undefined {
  for (const entry of history) {
    if (entry.type !== "assistant") continue;
    for (const part of entry.parts)
      if (part.type === "opaque" && isRecord(part.data) && typeof part.data.startedAt === "number")
        return part.data.startedAt;
  }
  return undefined;
}

/** Executes the program up to a call that has no result yet, or to its end. Returns the message of this turn. */
async function advanceProgram(
  execution: Execution,
  history: readonly Entry[],
  options: ProgramModelOptions,
): Promise<Chunk[]> {
  const { sandbox, calls, startedAt } = execution;
  const { code, tools } = options;
  const finished = listFinishedCalls(history);
  if (!execution.report) addReport(execution, await sandbox.start({ code, tools, startedAt }));
  while (execution.report?.type === "calls") {
    assertCallCount(calls.length, finished, options);
    assertSameCalls(calls, finished);
    if (finished.length < calls.length) return buildCalls(execution, finished.length);
    const replies = finished.slice(execution.answered, calls.length).map(({ reply }) => reply);
    execution.answered = calls.length;
    addReport(execution, await sandbox.continue(replies));
  }
  const { report } = execution;
  if (report?.type === "done") return [{ type: "text", text: formatProgramAnswer(report) }];
  const reason = report?.type === "failed" ? report.message : "Its process sent an invalid report.";
  throw createProgramError(`${reason}${formatEarlierCalls(finished)}`);
}

/** Tells the model which effects the program had, so that the next program does not repeat them. */
function formatEarlierCalls(finished: readonly FinishedCall[]): string {
  const counts = new Map<string, number>();
  for (const { call, reply } of finished)
    if (reply.ok) counts.set(call.name, (counts.get(call.name) ?? 0) + 1);
  if (counts.size === 0) return "";
  const list = [...counts].map(([name, count]) => (count === 1 ? name : `${name} (${count} times)`));
  return ` Before that, these calls succeeded: ${list.join(", ")}.`;
}

function addReport(execution: Execution, report: SandboxReport): void {
  execution.report = report;
  if (report.type === "calls") execution.calls.push(...report.calls);
}

function assertCallCount(
  count: number,
  finished: readonly FinishedCall[],
  { limits: { maxCalls } }: ProgramModelOptions,
): void {
  if (count <= maxCalls) return;
  const reason = `It made more than ${maxCalls} tool calls. Check its loops, or split the task.`;
  throw createProgramError(`${reason}${formatEarlierCalls(finished)}`);
}

/** The arguments may differ, because the runtime repairs them and the user may edit them. */
function assertSameCalls(calls: readonly ProgramCall[], finished: readonly FinishedCall[]): void {
  const index = calls.findIndex(({ name }, position) => {
    const earlier = finished[position];
    return earlier !== undefined && earlier.call.name !== name;
  });
  if (index < 0) return;
  throw createProgramError(
    `Its call ${index + 1} was "${finished[index]?.call.name}" and is now "${calls[index]?.name}", so it cannot be continued. Write it again.`,
  );
}

function buildCalls({ calls, startedAt }: Execution, from: number): Chunk[] {
  const batch = calls.slice(from, from + maxCallsPerTurn);
  const start: Chunk[] = from === 0 ? [{ type: "opaque", data: { startedAt } }] : [];
  return [
    ...start,
    ...batch.flatMap(({ name, input }, index): Chunk[] => [
      { type: "call_start", index, name },
      { type: "call_delta", index, text: JSON.stringify(input) },
    ]),
  ];
}

function formatProgramAnswer({ text, log }: Extract<SandboxReport, { type: "done" }>): string {
  if (log === "") return text || "The program returned nothing. Use `return` for its answer.";
  return text === "" ? log : `${text}\n\nLog:\n${log}`;
}
