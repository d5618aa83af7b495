import { removeApprovalRules } from "../features/approvals/approval-rules.ts";
import type { Agent } from "../kernel/agent.ts";
import type { Event, Fact } from "../kernel/event.ts";
import type { Entry } from "../kernel/history.ts";
import type { AgentCall, AgentContext, AgentOutput } from "../kernel/infer-agent.ts";
import type { RunInput } from "../runtime/input.ts";
import { loadSessionInfo, readFacts } from "../runtime/load-facts.ts";
import { foldNewFacts, openSession } from "../runtime/open-session.ts";
import { deleteQueue } from "../runtime/queue.ts";
import { type OptionsFor, type RunOptions, run } from "../runtime/run.ts";
import type { Run } from "../runtime/run-handle.ts";
import type { Store } from "../runtime/store.ts";
import { deleteSessionSchedules } from "../schedules/stored-schedules.ts";
import { type ExportFormat, exportSession } from "./export-session.ts";
import { type ForkOptions, fork } from "./fork.ts";
import { type ReplayOptions, replay } from "./replay.ts";
import { type SessionSummary, summarizeSession } from "./summary.ts";
import { getTitle } from "./title.ts";

/** A stored session. Every method except `facts` and `run` rejects with `not_found` if the session does not exist. */
export interface Session {
  readonly id: string;
  info(): Promise<SessionSummary>;
  /** Returns the title set with `rename`, or the start of the first message. */
  title(): Promise<string>;
  /** Sets the title. An empty title restores the default, the start of the first message. */
  rename(title: string): Promise<void>;
  /** Permanently deletes the session with its facts and blobs. */
  remove(): Promise<void>;
  /** Returns the facts after position `after`. */
  facts(after?: number): Promise<readonly Fact[]>;
  /** Returns the history that the next run would start with. */
  history(): Promise<readonly Entry[]>;
  /** Exports the session as one text. */
  export(format: ExportFormat): Promise<string>;
  /** Exports the session in parts, for sessions that should not be in memory as a whole. */
  exportParts(format: ExportFormat): AsyncIterableIterator<string, void, undefined>;
  /**
   * Creates a session with the facts up to and including position `at`. A run cut off there is suspended and can be
   * resumed.
   */
  fork(at: number, options?: ForkOptions): Promise<Session>;
  /** Starts a run in the session, as `run` does. The session may be new. */
  run<A extends Agent>(
    agent: A,
    input: RunInput,
    ...optionsWithContext: OptionsFor<A, Omit<RunOptions<AgentContext<A>, AgentCall<A>>, "store" | "session">>
  ): Run<AgentOutput<A>, AgentCall<A>>;
  /** Yields the recorded events in order. Executes nothing. */
  replay(options?: ReplayOptions): AsyncGenerator<Event, void, undefined>;
}

/** Returns a handle on a stored session. Nothing is read until a method is called. */
export function session(store: Store, id: string): Session {
  const loadInfo = () => loadSessionInfo(store, id);
  async function* exportParts(format: ExportFormat): AsyncGenerator<string, void, undefined> {
    yield* exportSession(store, await loadInfo(), format);
  }
  return {
    id,
    info: async () => summarizeSession(store, await loadInfo()),
    title: async () => getTitle(await store.read(id, 0, 1), (await loadInfo()).title),
    async rename(title) {
      await loadInfo();
      await store.rename(id, title);
    },
    async remove() {
      await loadInfo();
      await removeApprovalRules(store, id);
      await deleteQueue(store, id);
      await deleteSessionSchedules(store, id);
      await store.remove(id);
    },
    async facts(after) {
      const facts: Fact[] = [];
      for await (const page of readFacts(store, id, after)) facts.push(...page);
      return facts;
    },
    async history() {
      await loadInfo();
      const opened = await openSession(id, { store });
      await foldNewFacts(opened, { store });
      return opened.state.history;
    },
    async export(format) {
      const parts: string[] = [];
      for await (const part of exportParts(format)) parts.push(part);
      return parts.join("");
    },
    exportParts,
    run: ((agent: Agent, input: RunInput, options: RunOptions = {}) =>
      run(agent, input, { ...options, store, session: id })) as Session["run"],
    fork: async (at, options = {}) => session(store, await fork(store, id, { ...options, at })),
    replay: (options) => replay(store, id, options),
  };
}
