import { type Agent, defineAgent, type Store } from "capstan";
import { loadMemories } from "capstan/memories";
import { scriptedModel } from "capstan/testing";
import { memoryTools } from "../../memory-tools.ts";

const path = "/memories/notes.md";
const insert = (text: string) => ({ command: "insert", path, insert_line: 0, insert_text: text });

/** Every command, several of them in one turn. Repeating any of them would change the memories again, or fail. */
const turns = [
  [insert("One."), insert("Two."), insert("Two.")],
  [{ command: "str_replace", path, old_str: "One.", new_str: "One. One." }],
  [
    { command: "create", path: "/memories/old.md", file_text: "Old." },
    { command: "rename", old_path: "/memories/old.md", new_path: "/memories/new.md" },
  ],
  [{ command: "create", path: "/memories/gone.md", file_text: "Gone." }],
  [{ command: "delete", path: "/memories/gone.md" }],
];

/** Calls that the writer makes. */
export const callCount: number = turns.flat().length;

/** An agent whose calls depend on the history alone, so that any process can resume its run. */
export function createMemoryWriter(): Agent {
  const model = scriptedModel(({ history }) => {
    const turn = history.filter(({ type }) => type === "assistant").length;
    const inputs = turns[turn];
    return inputs ? { calls: inputs.map((input) => ({ name: "memory", input })) } : { text: "Done." };
  });
  return defineAgent({ name: "writer", model, tools: memoryTools({ scope: "agent" }) });
}

/** The memories of the writer, each with its version and text. */
export async function readMemories(store: Store): Promise<readonly string[]> {
  const memories = await loadMemories(store, { user: "", scope: "agent:writer" });
  return memories.map(({ path: at, text, version }) => `${at} ${version}: ${text}`);
}

/** The memories after each call was applied once. */
export const writtenOnce: readonly string[] = [
  "/memories/new.md 6: Old.",
  `${path} 4: Two.\nTwo.\nOne. One.\n`,
];
