// Runs the planned scenarios on a store, in its own process: some of them kill it.
// Arguments: the address of the store as JSON, and the name of one of `crashes`, `recover`, or nothing for all other scenarios.
import type { PolicyOverrides, Run, Store } from "capstan";
import { local } from "capstan/engines/local";
import { fakeClock } from "capstan/testing";
import { openSharedStore } from "../durability/open-shared-store.ts";
import { createFixtureAgents, type Plan } from "./fixture-agents.ts";

type Scenario = {
  readonly plan: Plan;
  readonly policy?: PolicyOverrides;
  /** Runs before this one in the same session. */
  readonly before?: number;
  /** Continues the run once it waits. */
  readonly answer?: (run: Run, callId: string) => PromiseLike<unknown>;
  /** Sends something that the engine no longer delivers. */
  readonly leave?: (callId: string, store: Store) => PromiseLike<unknown>;
};

const to = "Ann";
const look = { name: "look", input: { to } };
const send = { name: "send", input: { to } };
const ask = { name: "ask", input: { to } };
const handoff = { name: "handoff", input: { agent: "expert", message: "Send a card to Ann." } };
const helper = { name: "helper", input: { prompt: "Send a card to Ann." } };

/** Scenarios whose process is killed. The run id is the name of the scenario. */
const crashes: { readonly [name: string]: Scenario } = {
  recovered: { plan: [[{ name: "look", input: { crash: true } }], [send]] },
  killed_during_look: { plan: [[{ name: "look", input: { crash: true } }]] },
  killed_during_pay: { plan: [[look], [{ name: "pay", input: { crash: true } }]] },
  killed_during_model_call: { plan: [[look], "crash"] },
};

const scenarios: { readonly [name: string]: Scenario } = {
  finished: { plan: [[look, { name: "pay", input: { to } }]], policy: { summaries: true }, before: 1 },
  changed_source: { plan: [[look], [{ name: "look", input: { version: 2 } }]] },
  waiting_for_approval: { plan: [[send, look]] },
  approved: { plan: [[send]], answer: (run, callId) => run.approve(callId) },
  denied: { plan: [[send]], answer: (run, callId) => run.deny(callId, "Not today.") },
  waiting_for_question: { plan: [[ask]] },
  answered_question: { plan: [[ask]], answer: (run, callId) => run.approve(callId, "blue") },
  waiting_for_client: { plan: [[{ name: "measure", input: { to } }]] },
  handed_off: { plan: [[handoff]] },
  handed_back: { plan: [[handoff]], answer: (run, callId) => run.approve(callId) },
  denied_handoff: { plan: [[{ name: "handoff", input: { agent: "nobody" } }]] },
  nested_waiting: { plan: [[helper]] },
  nested_finished: { plan: [[helper]], answer: (run, callId) => run.approve(callId) },
  compacted: { plan: [[look], [look], [send]], policy: { contextBudget: 40 }, before: 3 },
  cancelled: { plan: [[send]], answer: (run) => run.cancel("No longer needed.") },
  steered: { plan: [[send]], answer: (run, callId) => run.steer("Be brief.").approve(callId) },
  failed: { plan: ["wrong_key"] },
  out_of_turns: { plan: [[look], [look], [look]], policy: { maxTurns: 2, finalTurn: "keep-tools" } },
  unknown_tool: { plan: [[{ name: "lok", input: {} }]] },
  with_pending_message: {
    plan: [[send]],
    leave: (callId, store) =>
      store.sendMessage("with_pending_message", { key: "k1", type: "approve", callId }),
  },
  edited_call: { plan: [[send]], answer: (run, callId) => run.approveWith(callId, { to: "Bob" }) },
  retried: { plan: ["fail_once"], answer: (run) => run.retry() },
  continued_message: { plan: ["long_answer"] },
  hosted_search: { plan: ["web_search"] },
  found_tool: {
    plan: [[{ name: "search_tools", input: { query: "tides" } }], [{ name: "tides", input: {} }]],
  },
  background_finished: { plan: [[{ name: "reader", input: { prompt: "Read the notes." } }], [look]] },
  background_waiting: { plan: [[{ name: "researcher", input: { prompt: "Send a card." } }]] },
  // Last, because the engine wakes it by the machine's clock.
  rate_limited: { plan: [[look], "rate_limit"] },
};

/** Starts the runs of these scenarios, one after the other. */
async function recordRuns(planned: { readonly [name: string]: Scenario }, store: Store): Promise<void> {
  const agents = createFixtureAgents("record");
  const [guide] = agents;
  // The runs of killed processes stay as they are: their leases are longer than the recording.
  const engine = local({ store, agents, owner: "recorder", leaseMs: 3_600_000, clock: createClock() });
  const leftovers: (() => PromiseLike<unknown>)[] = [];
  for (const [runId, { plan, policy = {}, before = 0, answer, leave }] of Object.entries(planned)) {
    // What a run waits for is answered long after the recording.
    const ownPolicy: PolicyOverrides = { approvalExpiresMs: "unlimited", ...policy };
    const options = { session: runId, clock: createClock(), timeZone: "UTC", policy: ownPolicy };
    for (let number = 1; number <= before; number++)
      await engine.run(guide, "Remember this. ".repeat(20), { ...options, runId: `${runId}_${number}` });
    const hooks = runId === "failed" ? { onEvent: failToLog } : {};
    const run = engine.run(guide, JSON.stringify(plan), { ...options, runId, hooks });
    const { pending } = await run;
    const callId = pending[0]?.callId ?? "";
    if (answer) await answer(run, callId);
    if (leave) leftovers.push(() => leave(callId, store));
  }
  await engine.close();
  for (const sendLeftover of leftovers) await sendLeftover();
}

/** Takes over the run of a killed process. */
async function recover(runId: string, store: Store): Promise<void> {
  const agents = createFixtureAgents("resume");
  const engine = local({
    store,
    agents,
    owner: "successor",
    getResumeOptions: () => ({ clock: createClock() }),
  });
  await engine.open(runId);
  await engine.close();
}

async function recordOutsideOfRuns(store: Store): Promise<void> {
  await store.rename("finished", "A café");
  await store.create("empty", "Nothing yet");
  await store.putRecord({ kind: "note", id: "first", body: { text: "one" } }, 0);
  await store.putRecord({ kind: "note", id: "first", body: { text: "two" } }, 1);
}

function failToLog(): void {
  throw new Error("The log is full.");
}

/** Starts at the same time in every recording. The waits between attempts pass at once. */
function createClock() {
  return fakeClock({ skipUpToMs: 5_000 });
}

const [address = "", name = ""] = process.argv.slice(2);
const store = openSharedStore(JSON.parse(address));
const crash = crashes[name];
if (crash) await recordRuns({ [name]: crash }, store);
else if (name === "recover") await recover("recovered", store);
else {
  await recordRuns(scenarios, store);
  await recordOutsideOfRuns(store);
}
await store.close();
