import { type Clock, toClock } from "../base/clock.ts";
import { AgentError } from "../base/errors.ts";
import { type Json, toCanonicalJson } from "../base/json.ts";
import { createOnce } from "../base/lazy.ts";
import { type Agent, handoffName, indexAgents } from "../kernel/agent.ts";
import { computeAgentVersion } from "../kernel/agent-version.ts";
import type { Fact } from "../kernel/event.ts";
import { createId } from "../kernel/ids.ts";
import type { AgentCall, AgentContext, AgentOutput } from "../kernel/infer-agent.ts";
import type { PolicyOverrides } from "../kernel/policy.ts";
import { checkNamedTool, checkSettings, type ModelSettings } from "../kernel/settings/settings.ts";
import type { State } from "../kernel/state.ts";
import type { ToolCall } from "../kernel/tool.ts";
import { memory } from "../stores/memory.ts";
import { assertTags, checkResumeOptions, checkRunOptions } from "./check-options.ts";
import { assertContext, type RunInput, readInput } from "./input.ts";
import { readRunFacts } from "./load-facts.ts";
import {
  createRunMask,
  type OpenRunOptions,
  openRun,
  type ResumeOptions,
  type SharedStoreOptions,
} from "./open-run.ts";
import { queueKind, type RunStart } from "./queue.ts";
import { runWhenBusy } from "./queue-when-busy.ts";
import type { Run } from "./run-handle.ts";
import { resolveRunPolicy } from "./run-policy.ts";
import type { Store } from "./store.ts";

export type RunOptions<Context = unknown, Call extends ToolCall = ToolCall> = ResumeOptions<Context, Call> & {
  /** Id of the conversation the run belongs to. Default: a new session. */
  readonly session?: string;
  /** Where facts are stored. Default: one in-memory store per process. */
  readonly store?: Store;
  readonly policy?: PolicyOverrides;
  /** What to ask of the model; takes precedence over the agent's settings. */
  readonly settings?: ModelSettings;
  /** The user's time zone, for dates in instructions. Default: the machine's. */
  readonly timeZone?: string;
  /** Makes the call idempotent: the same id and input return the existing run. */
  readonly runId?: string;
  /** Summarizes the history of the session now instead of answering. The input must be empty: `[]`. */
  readonly compact?: boolean;
  /** Words by which the run can be found: at most 20, of at most 100 characters each. */
  readonly tags?: readonly string[];
};

/** The options of a run of these agents; required, with the `context`, if the agents need one. */
export type OptionsFor<A, Options> =
  undefined extends AgentContext<A>
    ? [options?: Options]
    : [options: Options & { readonly context: AgentContext<A> }];

/** Set by an engine whose store other processes use too. */
type WithSharedStore = { readonly shared?: SharedStoreOptions };
/** Set by a rerun: replaces the agent's instructions, like a system message in the input. */
type WithInstructions = { readonly instructions?: string };

let processStore: Store | undefined;
/**
 * Resolved once: it costs as much as a turn of the loop, and 12 ms in a process that has not formatted a date before. The
 * dates of a machine in UTC, as most servers are, tell its time zone for less.
 */
const getMachineTimeZone = createOnce(() =>
  new Date(0).toString().endsWith("(Coordinated Universal Time)")
    ? "UTC"
    : Intl.DateTimeFormat().resolvedOptions().timeZone,
);
/** The last valid one: creating a formatter takes longer than the rest of a start. */
let checkedTimeZone: string | undefined;

/** A session with an unfinished run that this process executes without an engine, or has suspended. */
export type BusySession = {
  readonly runId: string;
  /** The handle while the run executes. A suspended run is resumed from its store. */
  run: Run | undefined;
  resume(): Run;
  /** The runs that start after it, in order. */
  readonly waiting: WaitingRun[];
};
export type WaitingRun = { readonly interrupts: boolean; start(isInterrupted: boolean): void };

/** A suspended run is listed until it ends, so entries hold nothing large. */
const busySessions = new WeakMap<Store, Map<string, BusySession>>();

/** Runs without a store can continue in this process only, so their requests are never read. */
function createProcessStore(): Store {
  const { readRequests: _, ...store } = memory();
  return store;
}

/** Starts a run. Await it for its result, or iterate it for its events. */
export function run<A extends Agent>(
  agent: A,
  input: RunInput,
  ...optionsWithContext: OptionsFor<
    A,
    RunOptions<AgentContext<A>, AgentCall<A>> & WithSharedStore & WithInstructions
  >
): Run<AgentOutput<A>, AgentCall<A>>;
export function run(
  agent: Agent,
  input: RunInput,
  options: RunOptions & WithSharedStore & WithInstructions = {},
): Run {
  checkRunOptions(options);
  const { session, runId = createId("run_"), shared } = options;
  processStore ??= createProcessStore();
  const { store: ownStore = processStore } = options;
  const busy = shared || session === undefined ? undefined : busySessions.get(ownStore)?.get(session);
  if (!busy || busy.runId === runId) return start(ownStore);
  return runWhenBusy(busy, { ...options, agent, input, runId, start: (store = ownStore) => start(store) });

  function start(store: Store): Run {
    const opened: OpenRunOptions = {
      ...withClock(options),
      agents: indexAgents(agent),
      runId,
      store,
      async findSession() {
        const request = { runId, session, store, input };
        const known =
          options.runId === undefined ? undefined : await findKnownSession(request, options.secrets);
        const id = known ?? session;
        return id === undefined ? { id: createId("ses_"), isNew: true } : { id };
      },
      async start(log, state) {
        assertNoActiveRun(state);
        if (shared && state.run) await assertEmptyQueue(store, state.sessionId);
        if (agent.context) await assertContext(agent, options.context);
        await log.append([buildRunStart(agent, input, options)], "start");
      },
    };
    return shared ? openRun(opened) : openInTurn(opened, session);
  }
}

/** Opens a run, and lists it as the unfinished run of its session until it ends. Then the next one starts. */
function openInTurn(options: OpenRunOptions, session?: string): Run {
  const { store, runId } = options;
  const sessions = busySessions.get(store) ?? new Map<string, BusySession>();
  busySessions.set(store, sessions);
  let own: BusySession | undefined;

  function list(sessionId: string): void {
    const listed = sessions.get(sessionId);
    if (listed?.run && listed.run !== handle) return; // the same run, opened twice: one of the two is rejected
    const resumeRun = () => openInTurn({ ...options, findSession: async () => ({ id: sessionId }) });
    own = { runId, run: handle, resume: resumeRun, waiting: listed?.waiting ?? [] };
    sessions.set(sessionId, own);
  }
  const handle = openRun({
    ...options,
    onProgress(progress, sessionId = session ?? "") {
      if (progress === "running") list(sessionId);
      if (!own || sessions.get(sessionId) !== own) return;
      if (progress === "suspended") own.run = undefined;
      if (progress !== "over") return;
      own.run = undefined;
      const next = own.waiting.shift();
      if (next) next.start(own.waiting.some(({ interrupts }) => interrupts));
      else sessions.delete(sessionId);
    },
  });
  if (session !== undefined) list(session);
  return handle;
}

async function assertEmptyQueue(store: Store, sessionId: string): Promise<void> {
  if ((await store.getRecord(queueKind, sessionId)) === undefined) return;
  const message = `Session "${sessionId}" has queued runs, which start first. Wait for them, or cancel them.`;
  throw new AgentError("session_busy", message);
}

function withClock<Options extends ResumeOptions>({
  clock,
  ...options
}: Options): Omit<Options, "clock"> & { readonly clock?: Clock } {
  return clock ? { ...options, clock: toClock(clock) } : options;
}

type RunRequest = {
  readonly runId: string;
  readonly session: string | undefined;
  readonly store: Store;
  readonly input: RunInput;
};

/** Finds the session of a run that the same request started. Throws when the id belongs to another request. */
async function findKnownSession(
  request: RunRequest,
  secrets: readonly string[] = [],
): Promise<string | undefined> {
  const { runId, store } = request;
  const known = await store.findRun(runId);
  if (!known) return undefined;
  const { session = known.sessionId } = request;
  const { value: [start] = [] } = await readRunFacts(store, known).next();
  const body = { input: readInput(request.input).entries };
  const { input } = createRunMask(secrets)?.fact(body) ?? body;
  const isSame =
    start?.type === "run_start" &&
    toCanonicalJson(start.input as unknown as Json) === toCanonicalJson(input as unknown as Json);
  if (known.sessionId === session && isSame) return session;
  const message = `Run "${runId}" already exists in session "${known.sessionId}" with other input. Use another run id, or omit it.`;
  throw new AgentError("invalid_input", message);
}

export function assertNoActiveRun({ sessionId, run }: State): void {
  if (!run || run.done) return;
  const message = `Session "${sessionId}" has an unfinished run "${run.id}". Resume it and let it end, or cancel it first.`;
  throw new AgentError("session_busy", message);
}

/** Builds the first fact of a run. Throws if the input or an option is invalid. */
export function buildRunStart(
  agent: Agent,
  input: RunInput,
  { policy, settings, timeZone, compact, tags = [], instructions: given }: RunOptions & WithInstructions,
): RunStart {
  const { entries, instructions = given } = readInput(input);
  if (compact && entries.length > 0)
    throw new AgentError("invalid_input", "A run that compacts its session takes no input: pass [].");
  if (timeZone !== undefined) assertTimeZone(timeZone);
  assertTags(tags);
  return {
    type: "run_start",
    input: entries,
    policy: resolveRunPolicy(agent, compact ? { ...policy, memory: "session" } : policy),
    timeZone: timeZone ?? getMachineTimeZone(),
    ...(settings && { settings: checkRunSettings(agent, settings) }),
    ...(instructions !== undefined && { instructions }),
    ...(compact && { compact }),
    agentVersion: computeAgentVersion(agent),
    ...(tags.length > 0 && { tags: [...new Set(tags)] }),
  };
}

function checkRunSettings({ name, tools, toolSource }: Agent, settings: ModelSettings): ModelSettings {
  const owner = `run of "${name}"`;
  const checked = checkSettings(owner, settings);
  if (!toolSource) checkNamedTool(owner, checked, [...tools.keys(), handoffName]);
  return checked;
}

function assertTimeZone(timeZone: string): void {
  if (timeZone === checkedTimeZone) return;
  try {
    new Intl.DateTimeFormat("en", { timeZone });
    checkedTimeZone = timeZone;
  } catch (cause) {
    const message = `Unknown time zone "${timeZone}". Use a name such as "Europe/Oslo", or omit it for the machine's.`;
    throw new AgentError("invalid_input", message, { cause });
  }
}

/** A stored start, and the run that it becomes. */
export type StoredStart = {
  readonly runId: string;
  readonly sessionId: string;
  readonly start: RunStart;
  /** Called when the start is in the log, before any event is emitted to readers. */
  onStarted(): void;
};

/** Starts a queued run on the store of an engine. Rejects with `session_busy` if its turn has not come. */
export function runQueued(
  agent: Agent,
  { runId, sessionId, start, onStarted }: StoredStart,
  options: ResumeOptions & { readonly store: Store; readonly shared: SharedStoreOptions },
): Run {
  return openRun({
    ...withClock(options),
    agents: indexAgents(agent),
    runId,
    store: options.store,
    findSession: async () => ({ id: sessionId }),
    async start(log, state) {
      assertNoActiveRun(state);
      if (agent.context) await assertContext(agent, options.context);
      await log.append([start], "start");
      onStarted();
    },
  });
}

/**
 * Continues a run from its facts, wherever it stopped. Finished steps are not repeated. Pass every agent the run may
 * need. The policy is the one the run was started with.
 */
export function resume<A extends Agent>(
  agents: A | readonly A[],
  from: readonly Fact[] | { readonly store: Store; readonly runId: string },
  ...optionsWithContext: OptionsFor<A, ResumeOptions<AgentContext<A>, AgentCall<A>> & WithSharedStore>
): Run<AgentOutput<A>, AgentCall<A>>;
export function resume(
  agents: Agent | readonly Agent[],
  from: readonly Fact[] | { readonly store: Store; readonly runId: string },
  options: ResumeOptions & WithSharedStore = {},
): Run {
  checkResumeOptions(options);
  const source = "store" in from ? fromStore(from.store, from.runId) : fromFacts(from);
  const opened: OpenRunOptions = {
    ...withClock(options),
    ...source,
    agents: indexAgents(agents),
    start: async () => undefined,
  };
  return options.shared ? openRun(opened) : openInTurn(opened);
}

type RunSource = Pick<OpenRunOptions, "store" | "runId" | "findSession">;

function fromStore(store: Store, runId: string): RunSource {
  return {
    store,
    runId,
    async findSession() {
      const sessionId = await store.findSession(runId);
      if (sessionId === undefined)
        throw new AgentError("unknown_run", `Run "${runId}" not found in the store.`);
      return { id: sessionId };
    },
  };
}

function fromFacts(facts: readonly Fact[]): RunSource {
  const start = facts.findLast((fact) => fact.type === "run_start" && fact.parentRunId === undefined);
  if (!start) throw new AgentError("unknown_run", "These facts contain no run: `run_start` is missing.");
  if (facts.some((fact, index) => fact.seq !== index + 1)) {
    const message = "To resume, pass the complete log of the session: all its facts, in order.";
    throw new AgentError("invalid_input", message);
  }
  const { runId, sessionId } = start;
  const store = memory();
  return {
    store,
    runId,
    async findSession() {
      const lease = await store.lease(sessionId, "seed", 1000);
      if (lease && (await store.read(sessionId, 0, 1)).length === 0)
        await store.append(facts, { expected: 0, lease });
      if (lease) await store.release(lease);
      return { id: sessionId };
    },
  };
}
