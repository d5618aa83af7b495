import type { ServerOptions } from "@capstan/server";
import { defineAgent, defineTool, type Store } from "capstan";
import { storedAgents } from "capstan/agents";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { createDemoMcp } from "../demo/demo-mcp.ts";
import { createHostileRun, createWaitingRun, type HostileText } from "./hostile-facts.ts";
import { buildHostileText, buildHostileUrls } from "./payloads.ts";

/** Creates numbered hostile texts. `getCount` returns how many were created. */
export function createHostileText(canary: string): HostileText & { readonly getCount: () => number } {
  const payload = buildHostileText(canary);
  const urls = buildHostileUrls(canary);
  let count = 0;
  return {
    getCount: () => count,
    text: () => `word${++count}x ${payload}`,
    url: () => urls[count++ % urls.length] ?? "",
  };
}

/** A server where every untrusted text is hostile. */
export async function createHostileWorld(hostile: HostileText): Promise<Omit<ServerOptions, "studio">> {
  const store = memory();
  const first = { sessionId: "ses_all", runId: "run_all", agent: hostile.text().slice(0, 400) };
  await appendFacts(store, createHostileRun(hostile, first));
  await appendFacts(
    store,
    createWaitingRun(hostile, { sessionId: "ses_wait", runId: "run_wait", agent: "hostile" }),
  );
  await store.rename("ses_all", hostile.text().slice(0, 200));
  const model = scriptedModel(
    ({ history }) =>
      history.at(-1)?.type === "result"
        ? { reasoning: hostile.text(), text: hostile.text(), split: 7 }
        : {
            text: hostile.text(),
            split: 5,
            calls: [{ name: "look", input: { [hostile.text()]: hostile.text() } }],
          },
    { id: `scripted/${hostile.text()}` },
  );
  const look = defineTool({
    name: "look",
    description: hostile.text(),
    input: { type: "object" },
    effects: "none",
    execute(_, { progress }) {
      progress(hostile.text());
      throw new Error(hostile.text());
    },
  });
  const agent = defineAgent({ name: "hostile", model, tools: [look], instructions: hostile.text() });
  const data = { format: 1, name: "stored", description: hostile.text(), prompt: hostile.text() } as const;
  await storedAgents({ store, coded: [agent], models: [model] }).save(data, 0);
  const title = hostile.text();
  return {
    store,
    agents: [agent],
    models: [model],
    storedAgents: { models: [model], tools: { look }, sources: [hostile.text().slice(0, 100)] },
    about: { hostile: { title, description: hostile.text(), suggestions: [hostile.text()] } },
    mcp: createHostileMcp(hostile),
  };
}

async function appendFacts(store: Store, facts: Parameters<Store["append"]>[0]): Promise<void> {
  const lease = await store.lease(facts[0]?.sessionId ?? "", "test", 1000);
  if (!lease) throw new Error("The lease is taken.");
  await store.append(facts, { expected: 0, lease });
  await store.release(lease);
}

function createHostileMcp({ text }: HostileText) {
  const changed = {
    name: text(),
    was: { description: text() },
    is: { description: text(), [text()]: text() },
  };
  const input = { description: text(), [text()]: text() };
  const tools = [{ name: text(), description: text(), input, isApproved: false }];
  return createDemoMcp([
    {
      name: "evil",
      described: { look: text() },
      isApproved: false,
      metadata: { fingerprint: text(), tools },
      changed: [changed as never],
      problems: [text()],
      log: [text(), text()],
      state: "failed",
      error: { code: text(), message: text(), retryable: false } as never,
    },
    { name: text(), described: {} },
  ]);
}
