import { defineAgent, defineTool } from "capstan";
import { scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import {
  type Forgery,
  factTypes,
  forgedCall,
  forgedTarget,
  forgeSessions,
} from "../../../capstan/src/testing/forge-session.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close(0);
});

/** A server that denies calls that need approval, and whose model makes the calls that the file asks for. */
function serve() {
  const executions: string[] = [];
  const tool = (name: string, settings: object) =>
    defineTool({
      ...{ name, description: name, input: { type: "object" }, ...settings },
      execute: () => `${name} ${executions.push(name)}`,
    });
  const tools = [
    tool("send", { effects: "send", target: ({ to }: { to?: string }) => to }),
    tool("wipe", { effects: "state", needsApproval: true }),
  ];
  const model = scriptedModel(({ history }) => {
    const last = history.at(-1);
    if (last?.type === "result" && last.callId.startsWith("own")) return { text: "Done." };
    return {
      calls: [forgedCall, { name: "wipe", input: {} }].map((call, n) => ({ ...call, id: `own_${n}` })),
    };
  });
  const shared = { model, instructions: "You sail a ship.", tools };
  const crew = defineAgent({ name: "crew", ...shared });
  const ship = defineAgent({ name: "ship", ...shared, handoffs: () => [crew] });
  const server = createTestServer({ agents: [ship, crew], policy: { approvals: "deny" } });
  servers.push(server);
  return { server, model, executions };
}

type Served = ReturnType<typeof serve>;

async function post({ server }: Served, path: string, body: object): Promise<Response> {
  return server.send("POST", path, body);
}

async function waitForRest({ server }: Served, runId: string): Promise<void> {
  await expect
    .poll(async () => (await (await server.send("GET", `/api/runs/${runId}`)).json()).state, {
      ...{ interval: 1, timeout: 30_000 },
    })
    .not.toBe("active");
}

/** Every way in which a caller can continue an imported session. Returns the run. */
const continuations: readonly ((forgery: Forgery, served: Served) => Promise<string | undefined>)[] = [
  async function steer(forgery, served) {
    const { runId } = await importForgery(forgery, "open", served);
    if (runId) await post(served, `/api/runs/${runId}/steer`, { text: "Go on." });
    return runId;
  },
  async function retry(forgery, served) {
    const { runId } = await importForgery(forgery, "failed", served);
    if (runId) await post(served, `/api/runs/${runId}/retry`, {});
    return runId;
  },
  async function startLaterRun(forgery, served) {
    const { sessionId } = await importForgery(forgery, "done", served);
    if (!sessionId) return undefined;
    return (await (await post(served, "/api/runs", { input: "Go on.", sessionId })).json()).runId;
  },
  async function repeat(forgery, served) {
    const { runId } = await importForgery(forgery, "done", served);
    return runId && (await (await post(served, `/api/runs/${runId}/rerun`, {})).json()).runId;
  },
  async function fork(forgery, served) {
    const { sessionId } = await importForgery(forgery, "done", served);
    if (!sessionId) return undefined;
    const copy = await (await post(served, `/api/sessions/${sessionId}/fork`, { at: 3 })).json();
    const { runId } = copy.runs.at(-1);
    await post(served, `/api/runs/${runId}/steer`, { text: "Go on." });
    return runId;
  },
];

async function importForgery(forgery: Forgery, end: "open" | "failed" | "done", served: Served) {
  const answer = await post(served, "/api/sessions", { file: forgery.build(end) });
  expect([forgery.name, [201, 400].includes(answer.status)]).toEqual([forgery.name, true]);
  if (answer.status === 400) return {};
  const { id, runs } = await answer.json();
  return { sessionId: id as string, runId: runs.at(-1).runId as string };
}

describe("a forged session file over HTTP", () => {
  it.each(
    factTypes,
  )("with any field of %s executes nothing that the server denies (A87, A125)", async (type) => {
    const served = serve();
    let continued = 0;
    // A run in the hands of an agent that does not exist cannot go on.
    const forgeries = [...forgeSessions(type)].filter(({ name }) => name !== "handoff.to");
    for (const [index, forgery] of forgeries.entries()) {
      const runId = await continuations[index % continuations.length]?.(forgery, served);
      if (runId) await waitForRest(served, runId);
      if (runId) continued += 1;
      expect([forgery.name, served.executions]).toEqual([forgery.name, []]);
    }
    expect(continued).toBeGreaterThan(0);
    for (const { instructions } of served.model.requests)
      expect(instructions.replace(/<sources>[\s\S]*<\/sources>/, "")).not.toContain(forgedTarget);
  });
});
