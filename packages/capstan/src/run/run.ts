import { type Agent, indexAgents } from "../agent.ts";
import { AgentError } from "../errors.ts";
import type { Fact, FactBody } from "../event.ts";
import { createId } from "../ids.ts";
import { type Json, toCanonicalJson } from "../json.ts";
import { environment } from "../models/environment.ts";
import { type PolicyOverrides, resolvePolicy } from "../policy.ts";
import { knownSecrets, maskingOf } from "../secrets/mask.ts";
import type { State } from "../state/state.ts";
import type { Store } from "../store.ts";
import { memory } from "../stores/memory.ts";
import { type RunInput, readInput } from "./input.ts";
import { openRun, type ResumeOptions, type Shared } from "./open-run.ts";
import type { Run } from "./run-handle.ts";

export type RunOptions = ResumeOptions & {
  /** The conversation it belongs to; a new one when left out. */
  readonly session?: string;
  /** Where facts go; by default one store in the memory of this process. */
  readonly store?: Store;
  readonly policy?: PolicyOverrides;
  /** The user's, for dates in instructions. By default the machine's. */
  readonly timeZone?: string;
  readonly runId?: string;
};

/** Of an engine whose store others use too. */
type WithShared = { readonly shared?: Shared };

let processStore: Store | undefined;
/** Asked for once: it costs as much as a turn of the loop. */
let machineTimeZone: string | undefined;

/** Starts a run at once. Await it for its result, or iterate it for its events. */
export function run(agent: Agent, input: RunInput, options: RunOptions & WithShared = {}): Run {
  const { session = createId("ses_"), runId = createId("run_") } = options;
  processStore ??= memory();
  const { store = processStore } = options;
  return openRun({
    ...options,
    agents: indexAgents(agent),
    runId,
    store,
    async find() {
      if (options.runId !== undefined) await assertSame({ runId, session, store, input }, options.secrets);
      return session;
    },
    async enter(log, state) {
      assertFree(state);
      await log.append([startOf(agent, input, options)], "start");
    },
  });
}

type Named = {
  readonly runId: string;
  readonly session: string;
  readonly store: Store;
  readonly input: RunInput;
};

/** The same id is the same run, and is not performed again. It is not another one. */
async function assertSame({ runId, session, store, input }: Named, secrets: readonly string[] = []) {
  const known = await store.findSession(runId);
  if (known === undefined) return;
  const start = (await store.read(known)).find((fact) => fact.runId === runId);
  const said = { input: readInput(input).entries };
  const asked = maskingOf(knownSecrets(secrets, environment))?.fact(said) ?? said;
  const isSame =
    start?.type === "run_start" &&
    toCanonicalJson(start.input as unknown as Json) === toCanonicalJson(asked.input as unknown as Json);
  if (known === session && isSame) return;
  const message = `There is another run "${runId}" already, in the session "${known}": give this one an id of its own, or none.`;
  throw new AgentError("invalid_input", message);
}

function assertFree({ sessionId, run }: State): void {
  if (!run || run.done) return;
  const message = `The session "${sessionId}" has an unfinished run "${run.id}": resume it and let it end, or cancel it, first.`;
  throw new AgentError("session_busy", message);
}

function startOf(agent: Agent, input: RunInput, { policy, timeZone }: RunOptions): FactBody {
  const { entries, instructions } = readInput(input);
  if (timeZone !== undefined) assertTimeZone(timeZone);
  machineTimeZone ??= Intl.DateTimeFormat().resolvedOptions().timeZone;
  return {
    type: "run_start",
    input: entries,
    policy: resolvePolicy(policy, agent.policy),
    timeZone: timeZone ?? machineTimeZone,
    ...(instructions !== undefined && { instructions }),
  };
}

function assertTimeZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
  } catch (cause) {
    const message = `There is no time zone "${timeZone}": give a name such as "Europe/Oslo", or none for the machine's.`;
    throw new AgentError("invalid_input", message, { cause });
  }
}

/**
 * Goes on with a run from its facts, wherever it stopped; finished steps are not repeated. Give every agent it may
 * need. Its policy is the one it was started with.
 */
export function resume(
  agents: Agent | readonly Agent[],
  from: readonly Fact[] | { readonly store: Store; readonly runId: string },
  options: ResumeOptions & WithShared = {},
): Run {
  const { store, runId, find } = "store" in from ? stored(from.store, from.runId) : seeded(from);
  return openRun({
    ...options,
    agents: indexAgents(agents),
    store,
    runId,
    find,
    enter: async () => undefined,
  });
}

type Source = { readonly store: Store; readonly runId: string; find(): Promise<string> };

function stored(store: Store, runId: string): Source {
  return {
    store,
    runId,
    async find() {
      const sessionId = await store.findSession(runId);
      if (sessionId === undefined) throw new AgentError("unknown_run", `The store has no run "${runId}".`);
      return sessionId;
    },
  };
}

function seeded(facts: readonly Fact[]): Source {
  const start = facts.findLast((fact) => fact.type === "run_start" && fact.parentRunId === undefined);
  if (!start)
    throw new AgentError("unknown_run", "These facts hold no run: there is no `run_start` among them.");
  if (facts.some((fact, index) => fact.seq !== index + 1)) {
    const message =
      "To resume, give the whole log of the session: its facts in order, from the first one on.";
    throw new AgentError("invalid_input", message);
  }
  const { runId, sessionId } = start;
  const store = memory();
  return {
    store,
    runId,
    async find() {
      const lease = await store.lease(sessionId, "seed", 1000);
      if (lease && (await store.read(sessionId)).length === 0)
        await store.append(facts, { expected: 0, lease });
      if (lease) await store.release(lease);
      return sessionId;
    },
  };
}
