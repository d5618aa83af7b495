import { type Agent, defineAgent, resume, run, type Store } from "capstan";
import { loadMemories } from "capstan/memories";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { expect, it } from "vitest";
import { breakAppend } from "../../capstan/src/testing/break-append.ts";
import { memoryTools } from "./memory-tools.ts";

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

function createWriter(): Agent {
  const model = scriptedModel(({ history }) => {
    const turn = history.filter(({ type }) => type === "assistant").length;
    const inputs = turns[turn];
    return inputs ? { calls: inputs.map((input) => ({ name: "memory", input })) } : { text: "Done." };
  });
  return defineAgent({ name: "writer", model, tools: memoryTools({ scope: "agent" }) });
}

async function read(store: Store): Promise<readonly string[]> {
  const memories = await loadMemories(store, { user: "", scope: "agent:writer" });
  return memories.map(({ path: at, text, version }) => `${at} ${version}: ${text}`);
}

const expected = ["/memories/new.md 1: Old.", `${path} 4: Two.\nTwo.\nOne. One.\n`];

it("killed after any fact, a run has made each change of its memories once (F73)", async () => {
  const whole = memory();
  await run(createWriter(), "Go.", { store: whole, session: "s", runId: "r" });
  expect(await read(whole)).toEqual(expected);
  const { length } = await whole.read("s");
  let repeated = 0;
  for (let appends = 1; appends < length; appends++) {
    const store = memory();
    const { repair, whenBroken } = breakAppend(store, appends);
    const first = run(createWriter(), "Go.", { store, session: "s", runId: "r" });
    const isBroken = await Promise.race([
      whenBroken.then(() => true),
      first.then(
        () => false,
        () => true,
      ),
    ]);
    if (!isBroken) break; // several facts are stored at once
    await first.then(undefined, () => undefined);
    repair();
    const before = (await store.read("s")).filter(({ type }) => type === "tool_call_start").length;
    const result = await resume(createWriter(), { store, runId: "r" });
    expect(result.toolCalls.map(({ status }) => status)).toEqual(Array(8).fill("ok"));
    expect(await read(store), `killed after ${appends} writes`).toEqual(expected);
    const starts = (await store.read("s")).filter(({ type }) => type === "tool_call_start").length;
    if (starts > 8 || before > 0) repeated += starts - 8;
  }
  // Some calls were executed again after the crash, and changed nothing.
  expect(repeated).toBeGreaterThan(0);
});

it("many sessions that write at the same time lose and repeat nothing", async () => {
  const store = memory();
  const model = () =>
    scriptedModel([
      { calls: [insert("a"), insert("b")].map((input) => ({ name: "memory", input })) },
      { text: "Done." },
    ]);
  const sessions = Array.from({ length: 10 }, (_, index) =>
    run(defineAgent({ name: "writer", model: model(), tools: memoryTools({ scope: "agent" }) }), "Go.", {
      store,
      session: `s${index}`,
    }),
  );
  await Promise.all(sessions);
  const [file] = await loadMemories(store, { user: "", scope: "agent:writer" });
  expect(
    [...(file?.text ?? "")]
      .filter((letter) => letter !== "\n")
      .sort()
      .join(""),
  ).toBe("a".repeat(10) + "b".repeat(10));
});
