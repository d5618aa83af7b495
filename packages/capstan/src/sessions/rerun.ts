import type { Agent, ModelChoice } from "../agent.ts";
import { AgentError } from "../errors.ts";
import type { Fact } from "../event.ts";
import type { Part } from "../history.ts";
import { createId } from "../ids.ts";
import { type PolicyOverrides, resolvePolicy } from "../policy.ts";
import type { ChatMessage, RunInput } from "../run/input.ts";
import type { ResumeOptions, SharedStoreOptions } from "../run/open-run.ts";
import { resume, run } from "../run/run.ts";
import type { Run } from "../run/run-handle.ts";
import type { Store } from "../store.ts";
import { runIdsFor } from "./copy-session.ts";
import { assertPosition, forkTitleOf, writeFork } from "./fork.ts";
import { isNested, storedFacts } from "./stored-facts.ts";
import type { Cursor } from "./subscribe.ts";

/** What to run again, and what to do otherwise. */
export type RerunOptions = ResumeOptions & {
  readonly session: string;
  /**
   * The position of a fact. Of a `run_start`: the run begins anew. Of a later one: the run goes on anew from the turn that
   * the fact belongs to. Left out: the last run of the session begins anew.
   */
  readonly at?: number;
  readonly agent: Agent;
  /** In place of the agent's models. */
  readonly model?: ModelChoice;
  /** On top of the policy that the run had. */
  readonly policy?: PolicyOverrides;
  /** What the person says instead; only where a run begins anew. */
  readonly edit?: string | readonly Part[];
  /** Of the new session. */
  readonly id?: string;
};

/** A run in a session of its own, and where that was forked from. */
export type Rerun = { readonly run: Run; readonly session: string; readonly from: Cursor };

/** Of an engine: how it gets along with others on its store, and what it does with a run that begins. */
type ByEngine = { readonly shared?: SharedStoreOptions; onStarted?(run: Run): unknown };

/** Forks a session before a run or a turn and runs from there again. The old session stays as it is. */
export async function rerun(store: Store, options: RerunOptions & ByEngine): Promise<Rerun> {
  const { session, id = createId("ses_") } = options;
  const facts = await storedFacts(store, session);
  const { start, before } = placeOf(facts, options.at);
  if (before >= start.seq && options.edit !== undefined) {
    const message = `What a person said can be edited only where its run begins: use \`at: ${start.seq}\`.`;
    throw new AgentError("invalid_input", message);
  }
  const title = await forkTitleOf(store, facts);
  const again = { ...start, policy: resolvePolicy(options.policy, start.policy) };
  const prefix = facts.slice(0, before).map((fact) => (fact.seq === start.seq ? again : fact));
  if (prefix.length > 0) await writeFork(store, { sessionId: session, id, facts: prefix, title });
  const onStarted =
    before >= start.seq ? goOn(store, options, { id, prefix }) : beginAnew(store, options, { id, again });
  options.onStarted?.(onStarted);
  // The session of a first run exists when that has started.
  await firstEvent(onStarted);
  await store.rename(id, title);
  return { run: onStarted, session: id, from: { sessionId: session, seq: before } };
}

type Start = Extract<Fact, { type: "run_start" }>;

/** The start of the run in question, and how many facts come before the place to run again from. */
function placeOf(
  facts: readonly Fact[],
  at: number | undefined,
): { readonly start: Start; readonly before: number } {
  if (at !== undefined) assertPosition(facts, at);
  const before = facts.slice(0, at).filter((fact) => !isNested(fact));
  const start = before.findLast((fact) => fact.type === "run_start");
  if (!start)
    throw new AgentError("unknown_run", "There is no run at that place: no `run_start` comes before it.");
  const turn = at === undefined ? 0 : (before.at(-1)?.turn ?? 0);
  const begin = facts.find(
    (fact) => fact.runId === start.runId && fact.type === "turn_start" && fact.turn === turn,
  );
  return { start, before: (begin ?? start).seq - 1 };
}

function goOn(
  store: Store,
  options: RerunOptions & ByEngine,
  { id, prefix }: { readonly id: string; readonly prefix: readonly Fact[] },
): Run {
  const last = prefix.findLast((fact) => !isNested(fact));
  const runId = runIdsFor(id, prefix).get(last?.runId ?? "") ?? "";
  return resume(agentOf(options), { store, runId }, resumeOptions(options));
}

function beginAnew(
  store: Store,
  options: RerunOptions & ByEngine,
  { id, again }: { readonly id: string; readonly again: Start },
): Run {
  const { policy, timeZone } = again;
  const input = inputOf(again, options.edit);
  return run(agentOf(options), input, { ...resumeOptions(options), store, session: id, policy, timeZone });
}

function resumeOptions({
  context,
  signal,
  hooks,
  clock,
  secrets,
  shared,
}: RerunOptions & ByEngine): ResumeOptions & Pick<ByEngine, "shared"> {
  return {
    context,
    ...(shared && { shared }),
    ...(signal && { signal }),
    ...(hooks && { hooks }),
    ...(clock && { clock }),
    ...(secrets && { secrets }),
  };
}

function agentOf({ agent, model }: RerunOptions): Agent {
  return model === undefined ? agent : withModel(agent, model, new Map());
}

/** The agent and all it may hand over to, each made once: they may name each other. */
function withModel(agent: Agent, model: ModelChoice, made: Map<Agent, Agent>): Agent {
  const known = made.get(agent);
  if (known) return known;
  const models = Object.fromEntries(Object.keys(agent.models).map((chain) => [chain, [model]]));
  const { handoffs } = agent;
  const copy: Agent = {
    ...agent,
    models: models as unknown as Agent["models"],
    ...(handoffs && { handoffs: () => handoffs().map((other) => withModel(other, model, made)) }),
  };
  made.set(agent, copy);
  return copy;
}

/** What the run was asked, with the last words of the person replaced by the edited ones. */
function inputOf({ input, instructions }: Start, edit: RerunOptions["edit"]): RunInput {
  const asked = input.findLastIndex((entry) => entry.type === "user");
  const entries = input.map((entry, index) =>
    index === asked && entry.type === "user" && edit !== undefined ? { ...entry, content: edit } : entry,
  );
  if (instructions === undefined) return entries;
  // Instructions come with chat messages, which hold nothing but text.
  const messages = entries.flatMap((entry): ChatMessage[] => {
    if (entry.type === "user") return [{ role: "user", content: entry.content }];
    if (entry.type !== "assistant") return [];
    return [{ role: "assistant", content: entry.parts.filter((part) => part.type === "text") }];
  });
  return [{ role: "system", content: instructions }, ...messages];
}

async function firstEvent(onStarted: Run): Promise<void> {
  const events = onStarted[Symbol.asyncIterator]();
  await events.next();
  await events.return?.();
}
