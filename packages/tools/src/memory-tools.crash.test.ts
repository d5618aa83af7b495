import { defineAgent, resume, run } from "capstan";
import { loadMemories } from "capstan/memories";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { expect, it } from "vitest";
import { breakAppend } from "../../capstan/src/testing/break-append.ts";
import { callCount, createMemoryWriter, readMemories, writtenOnce } from "./memory/testing/memory-writer.ts";
import { memoryTools } from "./memory-tools.ts";

it("killed after any fact, a run has made each change of its memories once (F73)", async () => {
  const whole = memory();
  await run(createMemoryWriter(), "Go.", { store: whole, session: "s", runId: "r" });
  expect(await readMemories(whole)).toEqual(writtenOnce);
  const { length } = await whole.read("s");
  let repeated = 0;
  for (let appends = 1; appends < length; appends++) {
    const store = memory();
    const { repair, whenBroken } = breakAppend(store, appends);
    const first = run(createMemoryWriter(), "Go.", { store, session: "s", runId: "r" });
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
    const result = await resume(createMemoryWriter(), { store, runId: "r" });
    expect(result.toolCalls.map(({ status }) => status)).toEqual(Array(callCount).fill("ok"));
    expect(await readMemories(store), `killed after ${appends} writes`).toEqual(writtenOnce);
    const starts = (await store.read("s")).filter(({ type }) => type === "tool_call_start").length;
    if (starts > callCount || before > 0) repeated += starts - callCount;
  }
  // Some calls were executed again after the crash, and changed nothing.
  expect(repeated).toBeGreaterThan(0);
});

const insert = (text: string) => ({
  ...{ command: "insert", path: "/memories/notes.md", insert_line: 0, insert_text: text },
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
