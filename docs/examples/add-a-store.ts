import { defineAgent, type Fact, run, type Store } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";

/** A store that also hands every new fact to `write`, such as to an archive that nobody can change. */
export function mirrored(store: Store, write: (fact: Fact) => void): Store {
  return {
    ...store,
    async append(facts, at) {
      const stored = await store.append(facts, at);
      // What was there already comes back as it was first: that is no news.
      for (const fact of stored) if (fact.seq > at.expected) write(fact);
      return stored;
    },
  };
}

if (import.meta.main) {
  const archive: string[] = [];
  const store = mirrored(memory(), (fact) => archive.push(`${fact.seq} ${fact.type}`));
  const agent = defineAgent({ name: "clerk", model: scriptedModel([{ text: "Filed." }]) });
  await run(agent, "File this.", { store });
  console.log(archive.join(", "));
}
