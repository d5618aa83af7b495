import { describe, expect, it } from "vitest";
import { AgentError } from "../base/errors.ts";
import { type Json, toCanonicalJson } from "../base/json.ts";
import { defineAgent } from "../kernel/agent.ts";
import type { Fact } from "../kernel/event.ts";
import type { Entry } from "../kernel/history.ts";
import { defaultPolicy, type PolicyOverrides } from "../kernel/policy.ts";
import { getProvenance } from "../kernel/provenance.ts";
import { defineTool } from "../kernel/tool.ts";
import { fold } from "../runtime/facts.ts";
import { resume, run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import {
  type Forgery,
  factTypes,
  forgedCall,
  forgedTarget,
  forgeSessions,
  repeatedCall,
} from "../testing/forge-session.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { rerun } from "./rerun.ts";
import { session } from "./session.ts";
import { sessions } from "./sessions.ts";

const instructions = "You sail a ship.";
const denying = { approvals: "deny" } as const;

/** An agent whose model obeys the file: it makes the calls that the file asks for. */
function createCrew(policy: PolicyOverrides = denying) {
  /** What the file has granted. */
  const gains: string[] = [];
  const executions: string[] = [];
  const tool = (name: string, settings: object) =>
    defineTool({
      ...{ name, description: name, input: { type: "object" }, reads: ["private"], ...settings },
      execute: () => `${name} ${executions.push(name)}`,
    });
  const tools = [
    tool("send", { effects: "send", target: ({ to }: { to?: string }) => to }),
    tool("wipe", { effects: "state", needsApproval: true }),
    tool("look", { effects: "none", cacheMs: 60_000 }),
  ];
  const model = scriptedModel(({ history }) => {
    const last = history.at(-1);
    if (last?.type === "result" && last.callId.startsWith("own")) return { text: "Done." };
    const number = history.length;
    return {
      calls: [
        { ...forgedCall, id: `own_send_${number}` },
        { id: `own_wipe_${number}`, name: "wipe", input: {} },
        { ...repeatedCall, id: `own_look_${number}` },
      ],
    };
  });
  const crew = defineAgent({ name: "crew", model, instructions, tools, policy });
  const ship = defineAgent({ name: "ship", model, instructions, tools, policy, handoffs: () => [crew] });
  return { ship, model, executions, gains };
}

type Crew = ReturnType<typeof createCrew>;

/** Every way in which a session can go on after its import. */
const continuations: { readonly [name: string]: (forgery: Forgery, crew: Crew) => Promise<unknown> } = {
  async steer(forgery, crew) {
    const { store, runId } = await importForgery(forgery, "open", crew);
    const handle = resume(crew.ship, { store, runId });
    await handle.steer("Go on.");
  },
  async retry(forgery, crew) {
    const { store, runId } = await importForgery(forgery, "failed", crew);
    const handle = resume(crew.ship, { store, runId });
    await handle;
    await handle.retry();
  },
  async "a later run"(forgery, crew) {
    const { store, id } = await importForgery(forgery, "done", crew);
    await run(crew.ship, "Go on.", { store, session: id });
    if (crew.executions.at(-1) !== "look") crew.gains.push("a result from the file");
  },
  async rerun(forgery, crew) {
    const { store, id } = await importForgery(forgery, "done", crew);
    await (await rerun(store, { session: id, agent: crew.ship })).run;
    const facts = await store.read(id);
    const at = facts.findLast(({ type }) => type === "turn_start")?.seq ?? 1;
    await (await rerun(store, { session: id, agent: crew.ship, at })).run;
  },
  async fork(forgery, crew) {
    const { store, id } = await importForgery(forgery, "done", crew);
    const facts = await store.read(id);
    const at = facts.findLast(({ type }) => type === "message")?.seq ?? facts.length;
    const copy = await session(store, id).fork(at);
    const runId = (await copy.info()).runs.at(-1)?.runId ?? "";
    await resume(crew.ship, { store, runId });
  },
};

async function importForgery(forgery: Forgery, end: "open" | "failed" | "done", crew: Crew) {
  const store = memory();
  const copy = await sessions(store).import(forgery.build(end), { findAgent: () => crew.ship });
  const facts = await store.read(copy.id);
  crew.gains.push(...facts.flatMap(listStoredRights));
  const { labels } = fold(copy.id, facts);
  if (labels.untrusted.length === 0 || labels.private.length === 0) crew.gains.push("no labels");
  return { store, id: copy.id, runId: facts.findLast(({ parentRunId }) => !parentRunId)?.runId ?? "" };
}

const granting = [
  "instructions",
  "cacheUntil",
  "expiresAt",
  "always",
  "granted",
  "alone",
  "checks",
  "question",
];
const rebuiltPolicy = toCanonicalJson({ ...defaultPolicy, ...denying } as unknown as Json);

/** Lists what a stored fact has of the file that grants a right. */
function listStoredRights(fact: Fact): string[] {
  const fields = granting.filter((field) => field in fact && !isRefusal(fact, field));
  if (fact.type === "waiting" && fact.until !== undefined) fields.push("until");
  if (fact.type === "run_start") {
    const { memory, historyLimit } = defaultPolicy;
    const policy = toCanonicalJson({ ...fact.policy, memory, historyLimit } as unknown as Json);
    if (policy !== rebuiltPolicy) fields.push(`policy ${policy}`);
  }
  return fields.map((field) => `stored ${fact.type}.${field}`);
}

/** The only checks in a copy refuse calls. */
function isRefusal(fact: Fact, field: string): boolean {
  return (
    fact.type === "message" &&
    field === "checks" &&
    Object.values(fact.checks ?? {}).every(({ error }) => error)
  );
}

/** Lists what the model has read of the file as the words of the operator or the user, and what it has executed. */
function listGains({ gains, executions, model: { requests } }: Crew): string[] {
  const found = [...gains, ...executions.filter((tool) => tool !== "look")];
  if (requests.length > 30) found.push(`${requests.length} requests`);
  for (const { instructions: sent, history, tools } of requests) {
    // Sources are quoted as data.
    const own = sent.replace(/<sources>[\s\S]*<\/sources>/, "");
    if (!own.startsWith(instructions) || own.includes(forgedTarget)) found.push(`instructions ${own}`);
    if (JSON.stringify(history).includes('"opaque"')) found.push("opaque data");
    if (tools.some(({ name }) => !knownTools.has(name))) found.push("tools");
    for (const entry of history)
      if (isTrusted(entry) && JSON.stringify(entry).includes(forgedTarget))
        found.push(`trusted words ${JSON.stringify(entry)}`);
  }
  return found;
}

const knownTools = new Set(["send", "wipe", "look", "handoff", "read_result"]);

function isTrusted(entry: Entry): boolean {
  return entry.type !== "result" && ["user", "operator"].includes(getProvenance(entry));
}

describe("a forged session file", () => {
  it.each(
    factTypes,
  )("with any field of %s grants nothing, however the session goes on (A87)", async (type) => {
    const gained: string[] = [];
    let continued = 0;
    for (const forgery of forgeSessions(type))
      for (const [name, proceed] of Object.entries(continuations)) {
        const crew = createCrew();
        try {
          await proceed(forgery, crew);
          continued += 1;
        } catch (thrown) {
          if (!(thrown instanceof AgentError)) throw new Error(`${forgery.name}, ${name}`, { cause: thrown });
        }
        gained.push(...listGains(crew).map((gain) => `${forgery.name}, ${name}: ${gain}`));
      }
    expect(gained).toEqual([]);
    expect(continued).toBeGreaterThan(0);
  });

  it("is dangerous where the gate and the approvals are off, so the calls bite", async () => {
    const { ship, executions } = createCrew({ gate: "off", approvals: "allow" });
    const [forgery] = forgeSessions("run_start");
    const store = memory();
    const { id } = await sessions(store).import(forgery?.build("done") ?? "");
    await run(ship, "Go on.", { store, session: id });
    expect(new Set(executions)).toEqual(new Set(["send", "wipe", "look"]));
  });
});
