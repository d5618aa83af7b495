import { memory } from "../stores/memory.ts";
import { engineSuite } from "../testing/engine-suite.ts";
import { resume, run } from "./run.ts";

engineSuite("direct", () => {
  const store = memory();
  return {
    store,
    start: (agent, input, options) => run(agent, input, { ...options, store }),
    resume: (agent, runId, options) => resume(agent, { store, runId }, options),
  };
});
