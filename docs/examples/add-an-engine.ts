import { defineAgent, defineTool } from "capstan";
import {
  createScheduledEngine,
  type ScheduledEngine,
  type ScheduledOptions,
  type SegmentRequest,
} from "capstan/engines/scheduled";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";

/** What an engine needs of a job queue: jobs that are not lost, and are repeated when they fail. */
export type JobQueue = {
  /** Adds a job, unless one with the same key waits. */
  add(key: string, job: SegmentRequest): Promise<void>;
  process(execute: (job: SegmentRequest) => Promise<unknown>): void;
  close(): void;
};

/** Creates an engine whose segments are jobs of a queue. */
export function createQueueEngine(
  queue: JobQueue,
  options: Omit<ScheduledOptions, "schedule">,
): ScheduledEngine {
  const engine = createScheduledEngine({
    ...options,
    schedule: (request) => queue.add(request.key, request),
  });
  queue.process(({ runId }) => engine.executeSegment({ runId }));
  return {
    ...engine,
    async close() {
      queue.close();
      await engine.close();
    },
  };
}

/** A queue in memory, for the example. A real one outlives the process. */
export function createMemoryQueue(retryMs = 20): JobQueue {
  const waiting = new Map<string, NodeJS.Timeout>();
  let execute: (job: SegmentRequest) => Promise<unknown> = async () => undefined;
  function addLater(key: string, job: SegmentRequest, delayMs: number): void {
    if (waiting.has(key)) return;
    const start = () => {
      waiting.delete(key);
      execute(job).catch(() => addLater(key, job, retryMs));
    };
    waiting.set(key, setTimeout(start, delayMs));
  }
  return {
    add: async (key, job) => addLater(key, job, Math.max(0, (job.at ?? 0) - Date.now())),
    process(handler) {
      execute = handler;
    },
    close() {
      execute = async () => undefined;
      for (const timer of waiting.values()) clearTimeout(timer);
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

  // The disk fails once after the result is stored: the queue repeats the segment, and the finished call is not repeated.
  const store = memory();
  const { append } = store;
  store.append = (facts, at) => {
    if (!facts.some(({ type, turn }) => type === "message" && turn === 2)) return append(facts, at);
    store.append = append;
    return Promise.reject(new Error("disk full"));
  };
  const engine = createQueueEngine(createMemoryQueue(), { store, agents: agent });
  const { runId } = await engine.enqueue(agent, "How is the pressure?");
  const result = await engine.open(runId);
  console.log(`${result.status}: ${result.text} (${looks} look)`);
  await engine.close();
}
