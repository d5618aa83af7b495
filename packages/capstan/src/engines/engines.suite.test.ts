import { memory } from "../stores/memory.ts";
import { engineSuite } from "../testing/engine-suite.ts";
import { adaptEngine } from "../testing/engine-under-test.ts";
import { createLocalScheduler } from "../testing/local-scheduler.ts";
import { local } from "./local.ts";
import { createScheduledEngine, type ScheduledEngine } from "./scheduled.ts";

engineSuite("local", () => adaptEngine(memory(), (options) => local(options)), {
  isRemote: true,
  share: 0.2,
});

engineSuite(
  "scheduled",
  () =>
    adaptEngine(memory(), (options) => {
      const scheduler = createLocalScheduler(({ runId }) => engine.executeSegment({ runId }));
      const engine: ScheduledEngine = createScheduledEngine({
        ...options,
        schedule: scheduler.schedule,
        takeOver: true,
      });
      return { ...engine, close: () => scheduler.close().then(engine.close) };
    }),
  { isRemote: true, share: 0.2 },
);
