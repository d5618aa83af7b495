import type { Clock } from "../base/clock.ts";
import { type AgentError, describeThrown, type ErrorData, toErrorData } from "../base/errors.ts";
import type { PendingCall } from "../features/calls/pending-calls.ts";
import type { Agent } from "../kernel/agent.ts";
import { createEvalSessionId, createId } from "../kernel/ids.ts";
import { loadRunFacts } from "../runtime/load-facts.ts";
import { run as startRun } from "../runtime/run.ts";
import type { Run } from "../runtime/run-handle.ts";
import type { Store } from "../runtime/store.ts";
import type { Eval } from "./define-eval.ts";
import type { EvalCase } from "./eval-case.ts";
import { assertWithinQuota, type GetEvalRunOptions } from "./eval-run-options.ts";
import type { CaseResult } from "./experiment.ts";
import { readOutcome } from "./run-outcome.ts";
import { scoreRun } from "./scorer.ts";
import { isRealTool, type ToolModes, withToolModes } from "./tool-modes.ts";
import { createRecordingLookup, listToolRecordings, type ToolRecording } from "./tool-recordings.ts";

export type RunCaseContext = {
  readonly case: EvalCase;
  readonly attempt: number;
  readonly store: Store;
  readonly experimentId: string;
  /** The scope of the runs' sessions. */
  readonly scope: string;
  getAgent(evalCase: EvalCase): Promise<Agent>;
  readonly getRunOptions: GetEvalRunOptions;
  /** Undefined: each case answers from the run that it was saved from. */
  readonly recordings: readonly ToolRecording[] | undefined;
  readonly isRecording: boolean;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
};

export type RanCase = {
  readonly result: CaseResult;
  /** Missing if the agent could not be created. */
  readonly agent?: string;
  readonly agentVersion?: string;
  readonly recorded: readonly ToolRecording[];
};

/** Stored texts are for reading; the whole answer is in the facts of the run. */
const maxTextLength = 20_000;

/** Runs one attempt at a case as an ordinary run in its own session, and scores its facts. Never rejects for a bad run. */
export async function runCase(definition: Eval, context: RunCaseContext): Promise<RanCase> {
  const { case: evalCase, attempt, store, signal, clock, getRunOptions } = context;
  const runId = createId("run_");
  const sessionId = createEvalSessionId(context.scope);
  const missing: AgentError[] = [];
  try {
    const modes = getModes(definition, context.isRecording);
    const recordings = context.recordings ?? (await loadSourceRecordings(store, evalCase, modes));
    const agent = withToolModes(await context.getAgent(evalCase), {
      modes,
      recordings: createRecordingLookup(recordings, evalCase.id),
      onMissing: (error) => void missing.push(error),
    });
    const { quotaErrors, ...given } = await getRunOptions({ runId, sessionId });
    const running = startRun(agent, evalCase.input, {
      ...given,
      store,
      session: sessionId,
      runId,
      ...getContext(definition, evalCase),
      ...(signal && { signal }),
      ...(clock && { clock }),
      tags: ["eval", `eval:${definition.name}`, `experiment:${context.experimentId}`],
    });
    const unanswered = await settle(running, { approvals: definition.approvals ?? "simulated", modes });
    assertWithinQuota(await running, quotaErrors);
    const facts = await loadRunFacts(store, runId);
    const outcome = readOutcome(facts);
    const { agentVersion, status, text, cost, ms, turns, usage } = outcome;
    const scored = { ...outcome, case: evalCase, facts, store, getRunOptions, ...(signal && { signal }) };
    const scores = await scoreRun(definition.scorers, scored);
    const error: ErrorData | undefined =
      unanswered ?? (missing[0] && toErrorData("recording_missing", missing[0].message));
    const passed = !error && scores.length > 0 && scores.every((score) => score.passed);
    const isRecorded = context.isRecording && attempt === 1;
    return {
      result: {
        ...{ caseId: evalCase.id, attempt, runId, sessionId, status },
        ...{ text: text.slice(0, maxTextLength).toWellFormed(), scores, passed, cost, ms, turns, usage },
        ...(error && { error }),
      },
      agent: agent.name,
      ...(agentVersion !== undefined && { agentVersion }),
      recorded: isRecorded ? listRecorded(definition, listToolRecordings(facts, evalCase.id)) : [],
    };
  } catch (thrown) {
    const error = describeThrown(thrown, "internal");
    const usage = { inputTokens: 0, outputTokens: 0 };
    const nothing = {
      status: "failed",
      text: "",
      scores: [],
      passed: false,
      cost: 0,
      ms: 0,
      turns: 0,
      usage,
    } as const;
    const ids = (await store.findRun(runId)) ? { runId, sessionId } : { runId: "", sessionId: "" };
    return { result: { caseId: evalCase.id, attempt, ...ids, ...nothing, error }, recorded: [] };
  }
}

function getContext({ context }: Eval, evalCase: EvalCase): { readonly context?: unknown } {
  if (context) return { context: context(evalCase) };
  return evalCase.context === undefined ? {} : { context: evalCase.context };
}

/** To record, recorded tools are called for real. */
function getModes({ tools = {} }: Eval, isRecording: boolean): ToolModes {
  if (!isRecording) return tools;
  return Object.fromEntries(
    Object.entries(tools).map(([name, mode]) => [name, mode === "recorded" ? "real" : mode]),
  );
}

function listRecorded({ tools = {} }: Eval, recordings: readonly ToolRecording[]): readonly ToolRecording[] {
  return recordings.filter(({ tool }) => (tools[tool] ?? tools["*"]) === "recorded");
}

async function loadSourceRecordings(
  store: Store,
  { source }: EvalCase,
  modes: ToolModes,
): Promise<readonly ToolRecording[]> {
  if (!source || !Object.values(modes).includes("recorded") || !(await store.findRun(source.runId)))
    return [];
  return listToolRecordings(await loadRunFacts(store, source.runId));
}

/** More decisions than any run needs: a run that asks forever ends. */
const maxDecisions = 1000;

/**
 * Awaits the end of a run and decides about the calls that it waits for. Returns why the run cannot continue, after it was
 * cancelled.
 */
async function settle(
  running: Run,
  { approvals, modes }: { readonly approvals: Eval["approvals"]; readonly modes: ToolModes },
): Promise<ErrorData | undefined> {
  const canApprove = ({ name }: PendingCall) =>
    approvals === "all" || (approvals === "simulated" && !isRealTool(modes, name));
  for (let decisions = 0; ; decisions++) {
    const { status, pending, text } = await running;
    if (status !== "waiting") return undefined;
    const client = pending.find(({ needs }) => needs === "answer");
    if (client || pending.length === 0 || decisions === maxDecisions) {
      const reason = client
        ? `The client executes "${client.name}", and an eval has no client: simulate the tool.`
        : `An eval cannot continue a run that waits: ${text}`;
      running.cancel(reason);
      await running;
      return toErrorData("tool_failed", reason);
    }
    for (const call of pending) {
      if (canApprove(call) && !call.question) running.approve(call.callId);
      else running.deny(call.callId, "The eval does not approve calls of real tools.");
    }
  }
}
