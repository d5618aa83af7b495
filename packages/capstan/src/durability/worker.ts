// A process that works on the runs of a shared store. Its order is the first argument, as JSON. It reads requests for
// runs from its input and says on its output, a line of JSON each, that it is ready, that a run is stored, and how the
// runs it has begun ended. It leaves on SIGTERM, and when its input ends.
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { local } from "../engines/local.ts";
import { AgentError } from "../errors.ts";
import { type Event, isFact } from "../event.ts";
import type { Hooks } from "../run/open-run.ts";
import { type Breakpoint, breakable, reaching } from "./breakpoints.ts";
import { openCanary } from "./canary.ts";
import { type PlannedCalls, plannedAgent, type World } from "./planned-agent.ts";
import { openStore, type StoreAddress } from "./shared-store.ts";

/** How a worker is to be. */
export type WorkerOrder = Omit<World, "canary" | "reach"> & {
  readonly store: StoreAddress;
  /** The file that executions and acknowledged facts are written to. */
  readonly canary: string;
  readonly leaseMs: number;
  readonly breakpoint?: Breakpoint;
};

/** What a worker is asked for. */
export type WorkerRequest = { readonly runId: string; readonly plan: PlannedCalls };

/** What a worker says. */
export type WorkerNews =
  | { readonly type: "ready" }
  | { readonly type: "stored"; readonly runId: string }
  | { readonly type: "rested"; readonly runId: string; readonly status: string; readonly text: string }
  | { readonly type: "refused"; readonly runId: string; readonly code: string };

function work(order: WorkerOrder): void {
  const reach = reaching(order.breakpoint);
  const canary = openCanary(order.canary);
  const store = breakable(openStore(order.store), reach);
  const agent = plannedAgent({ ...order, canary, reach });
  const say = (news: WorkerNews) => writeSync(1, `${JSON.stringify(news)}\n`);

  const hooks: Hooks = {
    onEvent(event: Event) {
      if (!isFact(event)) return;
      const { runId, seq, type, id } = event;
      canary.write({ what: "told", runId, seq, type, id });
      if (type === "run_start") say({ type: "stored", runId });
    },
  };
  const engine = local({
    store,
    agents: agent,
    leaseMs: order.leaseMs,
    owner: `worker ${process.pid}`,
    getResumeOptions: () => ({ hooks }),
  });

  function start({ runId, plan }: WorkerRequest): void {
    engine.run(agent, JSON.stringify(plan), { runId, session: runId, hooks }).then(
      ({ status, text }) => say({ type: "rested", runId, status, text }),
      (error) =>
        say({ type: "refused", runId, code: error instanceof AgentError ? error.code : String(error) }),
    );
  }

  async function leave(): Promise<void> {
    await engine.close();
    await store.close();
    requests.close();
    process.stdin.destroy();
  }

  const requests = createInterface(process.stdin);
  requests.on("line", (line) => start(JSON.parse(line)));
  process.stdin.on("end", () => process.exit(0));
  process.once("SIGTERM", () => void leave());
  say({ type: "ready" });
}

work(JSON.parse(process.argv[2] ?? "{}"));
