import { defineAgent, type Fact, run, type Store } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";

/** Passes every new fact to `write`, for example to an append-only archive. */
export function withMirror(store: Store, write: (fact: Fact) => void): Store {
  return {
    ...store,
    async append(facts, at) {
      const stored = await store.append(facts, at);
      // A repeated append returns the facts already stored; skip those.
      for (const fact of stored) if (fact.seq > at.expected) write(fact);
      return stored;
    },
  };
}

if (import.meta.main) {
  const archive: string[] = [];
  const store = withMirror(memory(), (fact) => archive.push(`${fact.seq} ${fact.type}`));
  const agent = defineAgent({ name: "clerk", model: scriptedModel([{ text: "Filed." }]) });
  await run(agent, "File this.", { store });
  console.log(archive.join(", "));
}
