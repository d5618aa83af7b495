import type { LocalEngine, LocalOptions } from "../engines/local-engine.ts";
import type { Agent } from "../kernel/agent.ts";
import type { ResumeOptions } from "../runtime/open-run.ts";
import type { Store } from "../runtime/store.ts";
import type { EngineUnderTest } from "./engine-suite.ts";

/** What an engine under test is created with. A short lease: a test waits for takeovers. */
export type TestedEngineOptions = Required<
  Pick<LocalOptions, "store" | "agents" | "getResumeOptions" | "leaseMs">
>;

/**
 * Adapts an engine with the interface of `local` to `engineSuite`: the agent and the options of the run are found by the
 * engine when it executes a segment.
 */
export function adaptEngine(
  store: Store,
  create: (options: TestedEngineOptions) => LocalEngine | Promise<LocalEngine>,
): EngineUnderTest | Promise<EngineUnderTest> {
  let current: Agent | undefined;
  let resumeOptions: ResumeOptions = {};
  const options = {
    store,
    agents: () => current,
    getResumeOptions: () => resumeOptions,
    leaseMs: 300,
  };
  const adapt = (engine: LocalEngine): EngineUnderTest => ({
    store,
    start(agent, input, { session, runId, ...rest }) {
      current = agent;
      resumeOptions = rest;
      return engine.run(agent, input, { session, runId, ...rest });
    },
    resume(agent, runId, rest) {
      current = agent;
      resumeOptions = rest;
      void engine.recover().catch(() => undefined); // also called by the engine itself
      return engine.open(runId);
    },
    close: () => engine.close(),
  });
  const created = create(options);
  return created instanceof Promise ? created.then(adapt) : adapt(created);
}
