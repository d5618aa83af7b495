import { AgentError } from "../base/errors.ts";
import type { Agent, ModelChoice } from "../kernel/agent.ts";
import type { Fact } from "../kernel/event.ts";
import type { Entry, Part } from "../kernel/history.ts";
import { createId } from "../kernel/ids.ts";
import { type Policy, type PolicyOverrides, resolvePolicy } from "../kernel/policy.ts";
import { getProvenance } from "../kernel/provenance.ts";
import { checkSettings, type ModelSettings, mergeSettings } from "../kernel/settings/settings.ts";
import { isNested, loadFacts, loadSessionInfo, toPages } from "../runtime/load-facts.ts";
import type { ResumeOptions, SharedStoreOptions } from "../runtime/open-run.ts";
import { resume, run } from "../runtime/run.ts";
import type { Run } from "../runtime/run-handle.ts";
import type { Store } from "../runtime/store.ts";
import { buildRunIds } from "./copy-session.ts";
import { pickHistoryPolicy } from "./fact-shapes.ts";
import { assertPosition, createForkTitle, writeFork } from "./fork.ts";
import type { Cursor } from "./subscribe.ts";

export type RerunOptions = ResumeOptions & {
  readonly session: string;
  /**
   * Position of a fact. At a `run_start`, that run starts over. At a later fact, the run repeats from the start of that
   * fact's turn. Default: the last run of the session starts over.
   */
  readonly at?: number;
  readonly agent: Agent;
  /** Replaces the agent's models. */
  readonly model?: ModelChoice;
  /** Overrides for the original run's policy, or for the agent's if the run was imported. */
  readonly policy?: PolicyOverrides;
  /** Take precedence over the original run's, field by field. */
  readonly settings?: ModelSettings;
  /** Replaces the user's message. Allowed only when a run starts over. Messages of an imported run are not the user's. */
  readonly edit?: string | readonly Part[];
  /** Id of the new session. Default: a generated id. */
  readonly id?: string;
  /** Id of the new run, when a run starts over. Default: a generated id. */
  readonly runId?: string;
};

/** The new run, its session, and the position it was forked from. */
export type Rerun = { readonly run: Run; readonly session: string; readonly from: Cursor };

/** Set by engines: the options for a shared store, and a callback for the new run. */
type EngineOptions = { readonly shared?: SharedStoreOptions; onStarted?(run: Run): unknown };

/** Forks a session before a run or turn and runs from there again. The original session does not change. */
export async function rerun(store: Store, options: RerunOptions & EngineOptions): Promise<Rerun> {
  const { session, id = createId("ses_") } = options;
  const facts = await loadFacts(store, session);
  const { start, forkAt } = findForkPoint(facts, options.at);
  if (forkAt >= start.seq && options.edit !== undefined) {
    const message = `The user's message can be edited only at the start of its run. Use \`at: ${start.seq}\`.`;
    throw new AgentError("invalid_input", message);
  }
  const title = await createForkTitle(store, await loadSessionInfo(store, session));
  const newStart = { ...start, policy: buildPolicy(start, options), ...mergeRunSettings(start, options) };
  const prefix = facts.slice(0, forkAt).map((fact) => (fact.seq === start.seq ? newStart : fact));
  if (prefix.length > 0)
    await writeFork(store, { sessionId: session, id, readPages: () => toPages(prefix), title });
  const newRun =
    forkAt >= start.seq
      ? resumeFork(store, options, { id, prefix })
      : restartRun(store, options, { id, start: newStart });
  options.onStarted?.(newRun);
  // Without a prefix, the session is created when the run starts.
  await waitForFirstEvent(newRun);
  await store.rename(id, title);
  return { run: newRun, session: id, from: { sessionId: session, seq: forkAt } };
}

type Start = Extract<Fact, { type: "run_start" }>;

/** The policy of an imported run was not chosen for this agent: only the fold of its history depends on it. */
function buildPolicy({ policy, imported }: Start, options: RerunOptions): Policy {
  if (!imported) return resolvePolicy(options.policy, policy);
  return resolvePolicy(options.policy, { ...options.agent.policy, ...pickHistoryPolicy(policy) });
}

function mergeRunSettings({ settings }: Start, options: RerunOptions): Pick<Start, "settings"> {
  return options.settings
    ? { settings: mergeSettings(checkSettings("run", options.settings), settings) }
    : {};
}

/** Finds the start of the run at this position, and the number of facts to keep. */
function findForkPoint(
  facts: readonly Fact[],
  at: number | undefined,
): { readonly start: Start; readonly forkAt: number } {
  if (at !== undefined) assertPosition({ id: facts[0]?.sessionId ?? "", facts: facts.length }, at);
  const ownFacts = facts.slice(0, at).filter((fact) => !isNested(fact));
  const start = ownFacts.findLast((fact) => fact.type === "run_start");
  if (!start)
    throw new AgentError("unknown_run", "No run found at this position: no `run_start` precedes it.");
  const turn = at === undefined ? 0 : (ownFacts.at(-1)?.turn ?? 0);
  const turnStart = facts.find(
    (fact) => fact.runId === start.runId && fact.type === "turn_start" && fact.turn === turn,
  );
  return { start, forkAt: (turnStart ?? start).seq - 1 };
}

function resumeFork(
  store: Store,
  options: RerunOptions & EngineOptions,
  { id, prefix }: { readonly id: string; readonly prefix: readonly Fact[] },
): Run {
  const last = prefix.findLast((fact) => !isNested(fact));
  const runId = buildRunIds(id, prefix).get(last?.runId ?? "") ?? "";
  return resume(selectAgent(options), { store, runId }, pickResumeOptions(options));
}

function restartRun(
  store: Store,
  options: RerunOptions & EngineOptions,
  { id, start }: { readonly id: string; readonly start: Start },
): Run {
  const { imported, timeZone, instructions, settings, tags } = start;
  const policy = imported ? options.policy : start.policy;
  return run(selectAgent(options), buildInput(start, options.edit), {
    ...pickResumeOptions(options),
    ...{ store, session: id, timeZone },
    ...(options.runId !== undefined && { runId: options.runId }),
    ...(policy && { policy }),
    ...(settings && { settings }),
    ...(tags && { tags }),
    ...(instructions !== undefined && { instructions }),
  });
}

function pickResumeOptions({
  context,
  signal,
  hooks,
  clock,
  secrets,
  shared,
}: RerunOptions & EngineOptions): ResumeOptions & Pick<EngineOptions, "shared"> {
  return {
    context,
    ...(shared && { shared }),
    ...(signal && { signal }),
    ...(hooks && { hooks }),
    ...(clock && { clock }),
    ...(secrets && { secrets }),
  };
}

function selectAgent({ agent, model }: RerunOptions): Agent {
  return model === undefined ? agent : withModel(agent, model, new Map());
}

/**
 * Copies the agent and its handoff targets with another model. Each is copied once, because handoffs may be circular.
 */
function withModel(agent: Agent, model: ModelChoice, copies: Map<Agent, Agent>): Agent {
  const existing = copies.get(agent);
  if (existing) return existing;
  const models = Object.fromEntries(Object.keys(agent.models).map((chain) => [chain, [model]]));
  const { handoffs } = agent;
  const copy: Agent = {
    ...agent,
    models: models as unknown as Agent["models"],
    ...(handoffs && { handoffs: () => handoffs().map((target) => withModel(target, model, copies)) }),
  };
  copies.set(agent, copy);
  return copy;
}

/**
 * Returns the run's original input, with the user's last message replaced by `edit`, which the user has written now. A
 * text that an application proposed stays the application's, because an edit keeps what it does not change.
 */
function buildInput({ input }: Start, edit: RerunOptions["edit"]): readonly Entry[] {
  if (edit === undefined) return input;
  const edited =
    input.findLast((entry) => getProvenance(entry) === "user") ??
    input.findLast((entry) => entry.type === "user");
  const isProposed = edited !== undefined && getProvenance(edited) === "application";
  const provenance = isProposed && ({ provenance: "application" } as const);
  const changed: Entry = { type: "user", content: edit, ...provenance };
  return input.map((entry) => (entry === edited ? changed : entry));
}

async function waitForFirstEvent(run: Run): Promise<void> {
  const events = run[Symbol.asyncIterator]();
  await events.next();
  await events.return?.();
}
