import { type Agent, type AgentCall, AgentError, type AgentOutput, type Json, type ToolCall } from "capstan";
import type { LocalEngine } from "capstan/engines/local";
import {
  createScheduledEngine,
  type ScheduledEngine,
  type ScheduledOptions,
} from "capstan/engines/scheduled";
import { createWorker, type Endpoint, type ListenOptions } from "./endpoint.ts";
import { createIngress, type IngressOptions } from "./ingress.ts";
import { type RegisterOptions, registerDeployment } from "./register.ts";

export type RestateOptions<A extends Agent = Agent> = Omit<ScheduledOptions<A>, "schedule" | "takeOver"> & {
  /** Where requests are sent. Restate executes them in this process, or in another one that calls `listen`. */
  readonly ingress: IngressOptions;
  /** The name of the service in Restate. Engines with other agents or another store need another one. Default: `capstan`. */
  readonly service?: string;
  /**
   * Restate aborts an attempt after this long and starts another one: longer than any segment, which includes all the tool
   * calls from a start or an answer to the end or the next suspension. Default: one day.
   */
  readonly maxSegmentMs?: number;
  /** The longest wait between two attempts of a segment that failed. Default: 10 seconds. */
  readonly maxRetryMs?: number;
};

/** The engine of `local`, whose segments Restate has executed by workers. */
export interface RestateEngine<Output = Json | undefined, Call extends ToolCall = ToolCall>
  extends LocalEngine<Output, Call> {
  /** Makes this process a worker: serves the HTTP/2 endpoint that Restate calls. Without it, nothing executes here. */
  listen(options?: ListenOptions): Promise<Endpoint>;
  /** Tells Restate where the workers are. Needed once, and after an upgrade of `@capstan/restate`. */
  register(options: RegisterOptions): Promise<void>;
}

const dayMs = 86_400_000;
/** Requests that Restate has accepted are durable, so that only those it never received have to be found. */
const defaultRecoverEveryMs = 30_000;

export function restate<A extends Agent>(
  options: RestateOptions<A>,
): RestateEngine<AgentOutput<A>, AgentCall<A>>;
export function restate(options: RestateOptions): RestateEngine {
  const { service = "capstan", maxSegmentMs = dayMs, maxRetryMs = 10_000 } = options;
  assertServiceName(service);
  const ingress = createIngress(options.ingress, service);
  const now = () => options.clock?.now() ?? Date.now();
  const engine = createScheduledEngine({
    recoverEveryMs: defaultRecoverEveryMs,
    ...options,
    // Restate has one attempt of one handler per session. A worker that it gave up may still be there, and is fenced off.
    takeOver: true,
    schedule: ({ type, at, ...request }) =>
      ingress.send({ ...request, handler: type, ...(at !== undefined && { delayMs: at - now() }) }),
  });
  const executions = createExecutions(engine);
  const worker = createWorker(service, { maxSegmentMs, maxRetryMs }, executions.execute);
  return {
    ...engine,
    listen: worker.listen,
    register: registerDeployment,
    async close() {
      executions.stop();
      // Requests that are being executed are answered when their segments stop: Restate repeats them elsewhere.
      await Promise.all([worker.close(), engine.close()]);
    },
  };
}

type Executions = { execute(run: { readonly runId: string }): Promise<void>; stop(): void };

function createExecutions(engine: ScheduledEngine): Executions {
  const running = new Map<string, Promise<unknown>>();
  let isStopped = false;
  return {
    async execute({ runId }) {
      // Restate repeats a request when it restarts, while this process may still execute it.
      while (running.has(runId)) await running.get(runId);
      if (isStopped) throw new AgentError("aborted", "This worker shuts down. Another one executes the run.");
      const execution = engine.executeSegment({ runId });
      const settled = execution.then(
        () => undefined,
        () => undefined,
      );
      running.set(runId, settled);
      try {
        await execution;
      } finally {
        running.delete(runId);
      }
    },
    stop() {
      isStopped = true;
    },
  };
}

function assertServiceName(service: string): void {
  if (/^[A-Za-z][\w.-]*$/.test(service)) return;
  const message = `\`service\` of restate() is "${service}". Use letters, digits, ".", "_" and "-", with a letter first.`;
  throw new AgentError("invalid_definition", message);
}
