import type { ServerOptions } from "@capstan/server";
import { defineAgent, defineTool, type Store } from "capstan";
import { storedAgents } from "capstan/agents";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { demoMcp } from "../demo/demo-mcp.ts";
import { hostileRun, type Words, waitingRun } from "./hostile-facts.ts";
import { hostileText, hostileUrls } from "./payloads.ts";

/** Hostile words, each with a number in front: `of` says how many were given out. */
export function hostileWords(canary: string): Words & { readonly of: () => number } {
  const whole = hostileText(canary);
  const urls = hostileUrls(canary);
  let count = 0;
  return {
    of: () => count,
    text: () => `word${++count}x ${whole}`,
    url: () => urls[count++ % urls.length] ?? "",
  };
}

/** A server where all that can be a stranger's words is hostile. */
export async function hostileWorld(words: Words): Promise<Omit<ServerOptions, "studio">> {
  const store = memory();
  const first = { sessionId: "ses_all", runId: "run_all", agent: words.text().slice(0, 400) };
  await write(store, hostileRun(words, first));
  await write(store, waitingRun(words, { sessionId: "ses_wait", runId: "run_wait", agent: "hostile" }));
  await store.rename("ses_all", words.text().slice(0, 200));
  const model = scriptedModel(
    ({ history }) =>
      history.at(-1)?.type === "result"
        ? { reasoning: words.text(), text: words.text(), split: 7 }
        : {
            text: words.text(),
            split: 5,
            calls: [{ name: "look", input: { [words.text()]: words.text() } }],
          },
    { id: `scripted/${words.text()}` },
  );
  const look = defineTool({
    name: "look",
    description: words.text(),
    input: { type: "object" },
    effects: "none",
    execute(_, { progress }) {
      progress(words.text());
      throw new Error(words.text());
    },
  });
  const agent = defineAgent({ name: "hostile", model, tools: [look], instructions: words.text() });
  const data = { format: 1, name: "stored", description: words.text(), prompt: words.text() } as const;
  await storedAgents({ store, coded: [agent], models: [model] }).save(data, 0);
  const title = words.text();
  return {
    store,
    agents: [agent],
    models: [model],
    storedAgents: { models: [model], tools: { look }, sources: [words.text().slice(0, 100)] },
    about: { hostile: { title, description: words.text(), suggestions: [words.text()] } },
    mcp: hostileMcp(words),
  };
}

async function write(store: Store, facts: Parameters<Store["append"]>[0]): Promise<void> {
  const lease = await store.lease(facts[0]?.sessionId ?? "", "test", 1000);
  if (!lease) throw new Error("Somebody else writes.");
  await store.append(facts, { expected: 0, lease });
  await store.release(lease);
}

function hostileMcp({ text }: Words) {
  const changed = {
    name: text(),
    was: { description: text() },
    is: { description: text(), [text()]: text() },
  };
  return demoMcp([
    {
      name: "evil",
      described: { look: text() },
      changed: [changed as never],
      problems: [text()],
      log: [text(), text()],
      state: "failed",
      error: { code: text(), message: text(), retryable: false } as never,
    },
    { name: text(), described: {} },
  ]);
}
