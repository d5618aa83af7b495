import { type Fact, getCalls } from "capstan";
import { isRepeatable } from "capstan/internal/verification";
import { crashTools } from "./crash-agent.ts";
import type { TraceLine } from "./execution-trace.ts";

/** Result of checking all runs of a trial. */
export type TrialCheck = {
  readonly problems: readonly string[];
  readonly runs: number;
  readonly facts: number;
  /** Tool executions, and how many of them were repeated after a crash. */
  readonly executions: number;
  readonly repeated: number;
  /** Calls with an unknown outcome, and how many of them took effect. */
  readonly interrupted: number;
  readonly interruptedWithEffect: number;
  /** How often another process took over a run. */
  readonly recoveries: number;
  /** Runs that were quarantined because they crashed their process. */
  readonly quarantined: number;
};

type TrialCounts = { -readonly [Field in Exclude<keyof TrialCheck, "problems">]: TrialCheck[Field] };
type Execution = Extract<TraceLine, { key: string }>;
type AcknowledgedFact = Extract<TraceLine, { what: "acknowledged" }>;
type RunTrace = {
  readonly executions: Execution[];
  readonly acknowledged: AcknowledgedFact[];
  readonly restarted: Set<string>;
};

const maxSoloCrashes = 3;

/**
 * Compares the logs of all runs with the execution trace. Checks that every run has ended, every acknowledged fact is in
 * its log, no call started again after its result was acknowledged, non-repeatable calls ran once, and calls with an
 * unknown outcome are reported as interrupted.
 */
export function checkTrial(
  sessions: ReadonlyMap<string, readonly Fact[]>,
  lines: readonly TraceLine[],
): TrialCheck {
  const problems: string[] = [];
  const count: TrialCounts = {
    runs: 0,
    facts: 0,
    executions: 0,
    repeated: 0,
    interrupted: 0,
    interruptedWithEffect: 0,
    recoveries: 0,
    quarantined: 0,
  };
  const traces = groupTraces(lines);
  for (const [runId, facts] of sessions) {
    const trace = traces.get(runId) ?? createRunTrace();
    const isQuarantinedRun = isQuarantined(facts);
    for (const problem of [
      ...checkLog(facts),
      ...checkAcknowledged(facts, trace.acknowledged),
      ...(isQuarantinedRun ? [] : checkEnd(facts)),
      ...checkTrialCalls(runId, facts, { trace, count, isQuarantinedRun }),
    ])
      problems.push(`${runId}: ${problem}`);
    count.runs += 1;
    count.facts += facts.length;
    count.recoveries += countRecoveries(facts);
    count.quarantined += isQuarantinedRun ? 1 : 0;
  }
  for (const [runId, { acknowledged }] of traces)
    if (acknowledged.length > 0 && !sessions.has(runId)) problems.push(`${runId}: acknowledged but missing`);
  return { problems, ...count };
}

const createRunTrace = (): RunTrace => ({ executions: [], acknowledged: [], restarted: new Set() });

/** Groups the trace by run. `restarted` holds the keys of calls that started after their result was acknowledged. */
function groupTraces(lines: readonly TraceLine[]): Map<string, RunTrace> {
  const traces = new Map<string, RunTrace>();
  const settled = new Set<string>();
  for (const line of lines) {
    const runId = getRootId(line.what === "acknowledged" ? line.runId : line.key);
    const trace = traces.get(runId) ?? createRunTrace();
    traces.set(runId, trace);
    if (line.what !== "acknowledged") {
      trace.executions.push(line);
      if (line.what === "begin" && settled.has(line.key)) trace.restarted.add(line.key);
    } else {
      trace.acknowledged.push(line);
      if (line.type === "tool_call_result") settled.add(`${line.runId}/${line.id}`);
    }
  }
  return traces;
}

/** The run that a run id or a key belongs to. The id of a nested run consists of its root's id, "~" and its call. */
function getRootId(id: string): string {
  return /^[^/~]*/.exec(id)?.[0] ?? "";
}

/** The idempotency key of the call that a fact is about. */
const toKey = ({ runId, id }: Fact) => `${runId}/${id}`;

function checkLog(facts: readonly Fact[]): string[] {
  const gap = facts.findIndex((fact, index) => fact.seq !== index + 1);
  const problems = gap === -1 ? [] : [`fact ${gap + 1} has number ${facts[gap]?.seq}`];
  const results = facts.flatMap((fact) => (fact.type === "tool_call_result" ? toKey(fact) : []));
  if (new Set(results).size < results.length) problems.push("a call has two results");
  const ends = facts.filter(({ type }) => type === "done").map(({ runId }) => runId);
  for (const runId of new Set(facts.map((fact) => fact.runId))) {
    const count = ends.filter((ended) => ended === runId).length;
    if (count > 1 || (count === 0 && runId.includes("~"))) problems.push(`${runId} has ${count} ends`);
  }
  return problems;
}

function checkAcknowledged(facts: readonly Fact[], acknowledged: readonly AcknowledgedFact[]): string[] {
  return acknowledged.flatMap(({ seq, type, id }) => {
    const fact = facts[seq - 1];
    return fact?.type === type && fact.id === id ? [] : [`acknowledged fact ${seq} (${type}) is missing`];
  });
}

const countRecoveries = (facts: readonly Fact[]) => facts.filter(({ type }) => type === "recovered").length;

/** True if the run ended as quarantined, and its process had crashed often enough while it executed only this run. */
function isQuarantined(facts: readonly Fact[]): boolean {
  const end = facts.at(-1);
  if (end?.type !== "done" || end.error?.code !== "quarantined") return false;
  let [isAlone, soloCrashes] = [false, 0];
  for (const fact of facts.slice(0, -1)) {
    if (fact.type === "recovered") {
      if (isAlone) soloCrashes += 1;
      isAlone = fact.alone === true;
    } else if (fact.type === "solo_end" || fact.type === "waiting") isAlone = false;
    // The results that quarantine itself stores have no attempts.
    else if (fact.type === "message" || (fact.type === "tool_call_result" && fact.attempts > 0))
      [isAlone, soloCrashes] = [false, 0];
  }
  return soloCrashes >= maxSoloCrashes;
}

function checkEnd(facts: readonly Fact[]): string[] {
  const end = facts.at(-1);
  if (end?.type !== "done") return [`lost: the last fact is ${end?.type}`];
  return end.status === "done" ? [] : [`ended as ${end.status}: ${end.text}`];
}

type RunCheckContext = {
  readonly trace: RunTrace;
  readonly count: TrialCounts;
  readonly isQuarantinedRun: boolean;
};

function checkTrialCalls(
  runId: string,
  facts: readonly Fact[],
  { trace, count, isQuarantinedRun }: RunCheckContext,
): string[] {
  const problems: string[] = [];
  const calls = new Map(
    facts
      .flatMap((fact) =>
        fact.type === "message" ? getCalls(fact.entry).map((call) => ({ ...call, runId: fact.runId })) : [],
      )
      .map((call) => [`${call.runId}/${call.id}`, call]),
  );
  const byKey = Map.groupBy(trace.executions, ({ key }) => key);
  for (const [key, [line]] of byKey)
    if (calls.get(key)?.name !== line?.tool)
      problems.push(`"${key}" is not the key of a call of ${line?.tool}`);
  for (const key of trace.restarted) problems.push(`${key} started again after its result was stored`);
  for (const [key, { name }] of calls) {
    const own = facts.filter((fact) => "id" in fact && toKey(fact) === key);
    const lines = byKey.get(key) ?? [];
    const found = Object.hasOwn(crashTools, name)
      ? checkCall(name, { facts: own, lines, count, isQuarantinedRun })
      : checkAgentCall(own);
    const label = key.slice(key.startsWith(`${runId}/`) ? runId.length + 1 : 0);
    for (const problem of found) problems.push(`${label} (${name}) ${problem}`);
  }
  return problems;
}

/** A handoff or the call of a sub-agent executes nothing itself, but it has a result. */
function checkAgentCall(facts: readonly Fact[]): string[] {
  return facts.some(({ type }) => type === "tool_call_result") ? [] : ["is without a result"];
}

type CallCheckContext = Pick<RunCheckContext, "count" | "isQuarantinedRun"> & {
  readonly facts: readonly Fact[];
  readonly lines: readonly Execution[];
};

function checkCall(name: string, { facts, lines, count, isQuarantinedRun }: CallCheckContext): string[] {
  const problems: string[] = [];
  const countLines = (what: Execution["what"]) => lines.filter((line) => line.what === what).length;
  const [begins, effects, ends] = [countLines("begin"), countLines("effect"), countLines("end")];
  const starts = facts.filter(({ type }) => type === "tool_call_start").length;
  const result = facts.find((fact) => fact.type === "tool_call_result");
  const repeatable = isRepeatable(crashTools[name as keyof typeof crashTools]);
  count.executions += begins;
  count.repeated += Math.max(0, begins - 1);
  if (begins > starts) problems.push(`was executed ${begins} times for ${starts} intents`);
  if (result && facts.at(-1) !== result) problems.push("started after its result");
  if (!repeatable && begins > 1) problems.push(`was executed ${begins} times but must not be repeated`);
  if (result?.status === "ok" && ends === 0) problems.push("has a result but was not executed");
  if (result?.status === "interrupted") {
    count.interrupted += 1;
    if (effects > 0) count.interruptedWithEffect += 1;
    if (starts === 0) problems.push("is reported as interrupted but never started");
  }
  // A quarantined run settles its open calls as interrupted or skipped.
  const allowed = isQuarantinedRun
    ? ["ok", "interrupted", "skipped"]
    : repeatable
      ? ["ok"]
      : ["ok", "interrupted"];
  if (!result || !allowed.includes(result.status))
    problems.push(`is ${result?.status ?? "without a result"}`);
  return problems;
}
