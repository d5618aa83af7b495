import { systemClock } from "../base/clock.ts";
import { AgentError } from "../base/errors.ts";
import type { Event, Fact } from "../kernel/event.ts";
import { getMedia } from "../kernel/history.ts";
import type { FoundRun, SessionInfo, Store } from "./store.ts";

/** Facts per read: a page is read, parsed and folded in a few milliseconds. */
export const pageSize = 500;

/** Reads the facts after a position, page by page, until the end of the log. */
export async function* readFacts(
  store: Store,
  sessionId: string,
  after = 0,
): AsyncGenerator<readonly Fact[], void, undefined> {
  for (let position = after; ; ) {
    const page = await store.read(sessionId, position, pageSize);
    if (page.length > 0) yield page;
    if (page.length < pageSize) return;
    position = page.at(-1)?.seq ?? position;
    await yieldToEventLoop();
  }
}

/** Lets other work of the process run. Called between parts of a long operation. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => systemClock.after(0, () => resolve()));
}

/** Splits facts in memory into pages, as `readFacts` does for stored facts. */
export async function* toPages(facts: readonly Fact[]): AsyncGenerator<readonly Fact[], void, undefined> {
  for (let from = 0; from < facts.length; from += pageSize) {
    if (from > 0) await yieldToEventLoop();
    yield facts.slice(from, from + pageSize);
  }
}

/** Reads the facts of each run and its nested runs, in start order. */
export async function* readRuns(
  store: Store,
  sessionId: string,
): AsyncGenerator<readonly Fact[], void, undefined> {
  let run: Fact[] = [];
  for await (const page of readFacts(store, sessionId))
    for (const fact of page) {
      if (run[0] && fact.type === "run_start" && !isNested(fact)) {
        yield run;
        run = [];
      }
      run.push(fact);
    }
  if (run.length > 0) yield run;
}

/** Reads the facts of a run and its nested runs, page by page, from its first fact or after a position. */
export async function* readRunFacts(
  store: Store,
  { runId, sessionId, firstSeq }: FoundRun,
  after = 0,
): AsyncGenerator<readonly Fact[], void, undefined> {
  // `firstSeq` is also 1 if the position is unknown, so facts of other runs may come first.
  let isStarted = firstSeq > 1 && after >= firstSeq;
  for await (const page of readFacts(store, sessionId, Math.max(after, firstSeq - 1))) {
    const first = isStarted ? 0 : page.findIndex((fact) => isInRun(fact, runId));
    if (first === -1) continue;
    isStarted = true;
    const end = page.findIndex((fact, index) => index >= first && !isInRun(fact, runId));
    yield end === -1 ? page.slice(first) : page.slice(first, end);
    if (end !== -1) return;
  }
}

/** Loads the facts of a run and its nested runs. Rejects with `unknown_run` if it does not exist. */
export async function loadRunFacts(store: Store, runId: string): Promise<readonly Fact[]> {
  const run = await store.findRun(runId);
  if (!run) throw new AgentError("unknown_run", `Run "${runId}" not found in the store.`);
  const facts: Fact[] = [];
  for await (const page of readRunFacts(store, run)) facts.push(...page);
  return facts;
}

type RunStart = Extract<Fact, { readonly type: "run_start" }>;

/** Loads the first fact of a run. */
export async function loadRunStart(store: Store, runId: string): Promise<RunStart | undefined> {
  const run = await store.findRun(runId);
  if (!run) return undefined;
  for await (const [first] of readRunFacts(store, run))
    return first?.type === "run_start" ? first : undefined;
  return undefined;
}

/** Loads all facts of a session. Rejects with `not_found` if it does not exist. */
export async function loadFacts(store: Store, sessionId: string): Promise<readonly Fact[]> {
  const facts: Fact[] = [];
  for await (const page of readFacts(store, sessionId)) facts.push(...page);
  if (facts.length === 0) await loadSessionInfo(store, sessionId);
  return facts;
}

/** Loads a session's metadata. Rejects with `not_found` if it does not exist. */
export async function loadSessionInfo(store: Store, sessionId: string): Promise<SessionInfo> {
  const info = await store.getSession(sessionId);
  if (info) return info;
  const message = `Session "${sessionId}" not found. Use \`list()\` to see existing sessions.`;
  throw new AgentError("not_found", message);
}

/** True for events of the run and of its nested runs. */
export function isInRun(event: Event, runId: string): boolean {
  return event.runId === runId || (isNested(event) && event.runId.startsWith(`${runId}~`));
}

/** True for events of a nested run, the run of an agent used as a tool. */
export function isNested({ parentRunId }: Event): boolean {
  return parentRunId !== undefined;
}

/** Returns the end of a run, or undefined if the run has not ended or was retried since. */
export function findEnd(runFacts: readonly Fact[]): Extract<Fact, { type: "done" }> | undefined {
  const last = runFacts.findLast(({ type }) => type === "done" || type === "retried");
  return last?.type === "done" ? last : undefined;
}

/** Lists the handles of a fact: of generated media, and of results, when they arrive or when a compaction shortens them. */
export function listHandles(fact: Fact): readonly string[] {
  if (fact.type === "message" || fact.type === "message_partial")
    return getMedia(fact.entry).flatMap(({ handle }) => handle ?? []);
  if (fact.type === "tool_call_result") return fact.handle === undefined ? [] : [fact.handle];
  return fact.type === "compacted" ? (fact.results ?? []).map(({ handle }) => handle) : [];
}
