import {
  type Agent,
  defineAgent,
  defineTool,
  type Result,
  type ResumeOptions,
  type Run,
  type RunInput,
  type RunOptions,
  resume,
  run,
  type Store,
} from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";

export type RunEngine = {
  readonly store: Store;
  start(agent: Agent, input: RunInput, options?: Omit<RunOptions, "store">): Run;
  resume(agent: Agent, runId: string, options?: ResumeOptions): Run;
  /** Resumes every unfinished run that no process holds. */
  recover(): Promise<Result[]>;
};

/** Creates an engine on one store that starts runs and resumes orphaned ones. */
export function createRunEngine(store: Store, agents: readonly Agent[]): RunEngine {
  return {
    store,
    start: (agent, input, options) => run(agent, input, { ...options, store }),
    resume: (agent, runId, options) => resume(agent, { store, runId }, options),
    async recover() {
      const orphans = await store.listOrphans();
      return Promise.all(orphans.map(async ({ runId }) => resume(agents, { store, runId })));
    },
  };
}

if (import.meta.main) {
  let looks = 0;
  const look = defineTool({
    name: "look",
    description: "Reads the gauge",
    input: {},
    effects: "none",
    execute: () => `Look ${++looks}: 3 bar`,
  });
  const model = scriptedModel(({ history }) =>
    history.length > 1 ? { text: "The pressure is 3 bar." } : { calls: [{ name: "look" }] },
  );
  const agent = defineAgent({ name: "stoker", model, tools: [look] });

  // The disk fails while the result is stored, then works again.
  const store = memory();
  const { append } = store;
  store.append = (facts, at) =>
    facts.some(({ type }) => type === "turn_end")
      ? Promise.reject(new Error("disk full"))
      : append(facts, at);
  const engine = createRunEngine(store, [agent]);
  await engine.start(agent, "How is the pressure?").then(undefined, (error) => console.log(error.message));
  store.append = append;

  for (const result of await engine.recover())
    console.log(`${result.status}: ${result.text} (${looks} look)`);
}
