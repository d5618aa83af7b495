import type { Fact } from "../event.ts";
import { getCalls } from "../history.ts";
import { isRepeatable } from "../tool.ts";
import type { CanaryLine } from "./canary.ts";
import { kinds } from "./planned-agent.ts";

/** What became of the runs of a trial. */
export type Verdict = {
  readonly problems: readonly string[];
  readonly runs: number;
  readonly facts: number;
  /** Executions of tools, and how many of them were made again after a crash. */
  readonly executions: number;
  readonly repeated: number;
  /** Calls of which nobody knows whether they took effect, and how many of them did. */
  readonly interrupted: number;
  readonly interruptedWithEffect: number;
  /** How often another process had to go on. */
  readonly recoveries: number;
  /** Runs that were given up because they lost their process too often in one turn. */
  readonly quarantined: number;
};

type Count = { -readonly [Field in Exclude<keyof Verdict, "problems">]: Verdict[Field] };
type Execution = Extract<CanaryLine, { key: string }>;
type Told = Extract<CanaryLine, { what: "told" }>;
type Witness = { readonly executions: Execution[]; readonly told: Told[]; readonly again: Set<string> };

const mostRecoveries = 5;

/**
 * Compares the logs of all runs with what the canaries saw. Every run has ended; every acknowledged fact is in its log;
 * no call is begun again once its result was acknowledged; what must not happen twice did not; and what is not known is
 * said to be unknown.
 */
export function judge(sessions: ReadonlyMap<string, readonly Fact[]>, lines: readonly CanaryLine[]): Verdict {
  const problems: string[] = [];
  const count: Count = {
    runs: 0,
    facts: 0,
    executions: 0,
    repeated: 0,
    interrupted: 0,
    interruptedWithEffect: 0,
    recoveries: 0,
    quarantined: 0,
  };
  const witnesses = witnessesOf(lines);
  for (const [runId, facts] of sessions) {
    const witness = witnesses.get(runId) ?? newWitness();
    const isGivenUp = isQuarantined(facts);
    for (const problem of [
      ...logProblems(facts),
      ...toldProblems(facts, witness.told),
      ...(isGivenUp ? [] : endProblems(facts)),
      ...callProblems(runId, facts, { witness, count, isGivenUp }),
    ])
      problems.push(`${runId}: ${problem}`);
    count.runs += 1;
    count.facts += facts.length;
    count.recoveries += recoveriesOf(facts);
    count.quarantined += isGivenUp ? 1 : 0;
  }
  for (const [runId, { told }] of witnesses)
    if (told.length > 0 && !sessions.has(runId))
      problems.push(`${runId}: it was acknowledged and is not there`);
  return { problems, ...count };
}

const newWitness = (): Witness => ({ executions: [], told: [], again: new Set() });

/** By run. `again` has the keys of calls that were begun behind the acknowledgement of their result. */
function witnessesOf(lines: readonly CanaryLine[]): Map<string, Witness> {
  const witnesses = new Map<string, Witness>();
  const settled = new Set<string>();
  for (const line of lines) {
    const runId = line.what === "told" ? line.runId : (line.key.split("/")[0] ?? "");
    const witness = witnesses.get(runId) ?? newWitness();
    witnesses.set(runId, witness);
    if (line.what !== "told") {
      witness.executions.push(line);
      if (line.what === "begin" && settled.has(line.key)) witness.again.add(line.key);
    } else {
      witness.told.push(line);
      if (line.type === "tool_call_result") settled.add(`${runId}/${line.id}`);
    }
  }
  return witnesses;
}

function logProblems(facts: readonly Fact[]): string[] {
  const gap = facts.findIndex((fact, index) => fact.seq !== index + 1);
  const problems = gap === -1 ? [] : [`fact ${gap + 1} has the number ${facts[gap]?.seq}`];
  const results = facts.flatMap((fact) => (fact.type === "tool_call_result" ? fact.id : []));
  if (new Set(results).size < results.length) problems.push("a call has two results");
  return problems;
}

function toldProblems(facts: readonly Fact[], told: readonly Told[]): string[] {
  return told.flatMap(({ seq, type, id }) => {
    const fact = facts[seq - 1];
    return fact?.type === type && fact.id === id
      ? []
      : [`the acknowledged fact ${seq} (${type}) is not there`];
  });
}

const recoveriesOf = (facts: readonly Fact[]) => facts.filter(({ type }) => type === "recovered").length;

/** Given up by name, and rightly so: in one turn it has lost its process too often. */
function isQuarantined(facts: readonly Fact[]): boolean {
  const end = facts.at(-1);
  if (end?.type !== "done" || end.error?.code !== "quarantined") return false;
  const turns = facts
    .map(({ type }) => type)
    .join(" ")
    .split("turn_end");
  return turns.some((turn) => turn.split("recovered").length - 1 > mostRecoveries);
}

function endProblems(facts: readonly Fact[]): string[] {
  const end = facts.at(-1);
  if (end?.type !== "done") return [`lost: its last fact is ${end?.type}`];
  return end.status === "done" ? [] : [`it ended as ${end.status}: ${end.text}`];
}

type Case = { readonly witness: Witness; readonly count: Count; readonly isGivenUp: boolean };

function callProblems(runId: string, facts: readonly Fact[], { witness, count, isGivenUp }: Case): string[] {
  const problems: string[] = [];
  const calls = new Map(
    facts
      .flatMap((fact) => (fact.type === "message" ? getCalls(fact.entry) : []))
      .map((call) => [call.id, call]),
  );
  const byKey = Map.groupBy(witness.executions, ({ key }) => key);
  for (const [key, [line]] of byKey) {
    const call = calls.get(key.slice(runId.length + 1));
    if (call?.name !== line?.tool) problems.push(`"${key}" is no key of a call of ${line?.tool}`);
  }
  for (const key of witness.again) problems.push(`${key} was begun again after its result was stored`);
  for (const [callId, { name }] of calls) {
    const lines = byKey.get(`${runId}/${callId}`) ?? [];
    const own = facts.filter((fact) => "id" in fact && fact.id === callId);
    for (const problem of oneCallProblems(name, { facts: own, lines, count, isGivenUp }))
      problems.push(`${callId} (${name}) ${problem}`);
  }
  return problems;
}

type OneCall = Pick<Case, "count" | "isGivenUp"> & {
  readonly facts: readonly Fact[];
  readonly lines: readonly Execution[];
};

function oneCallProblems(name: string, { facts, lines, count, isGivenUp }: OneCall): string[] {
  const problems: string[] = [];
  const amount = (what: Execution["what"]) => lines.filter((line) => line.what === what).length;
  const [begins, effects, ends] = [amount("begin"), amount("effect"), amount("end")];
  const starts = facts.filter(({ type }) => type === "tool_call_start").length;
  const result = facts.find((fact) => fact.type === "tool_call_result");
  const repeatable = isRepeatable(kinds[name as keyof typeof kinds]);
  count.executions += begins;
  count.repeated += Math.max(0, begins - 1);
  if (begins > starts) problems.push(`was executed ${begins} times for ${starts} intents`);
  if (result && facts.at(-1) !== result) problems.push("was begun behind its result");
  if (!repeatable && begins > 1) problems.push(`was executed ${begins} times and must not be`);
  if (result?.status === "ok" && ends === 0) problems.push("has a result and was not executed");
  if (result?.status === "interrupted") {
    count.interrupted += 1;
    if (effects > 0) count.interruptedWithEffect += 1;
    if (starts === 0) problems.push("is said to be interrupted and never began");
  }
  // A run that was given up leaves its open calls behind, each with a word about it.
  const allowed = isGivenUp ? ["ok", "interrupted", "skipped"] : repeatable ? ["ok"] : ["ok", "interrupted"];
  if (!result || !allowed.includes(result.status))
    problems.push(`is ${result?.status ?? "without a result"}`);
  return problems;
}
