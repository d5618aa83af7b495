import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, defineTool } from "capstan";
import { compareExperiments, defineEval, type EvalCase, runEval, scorers } from "capstan/evals";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";

const folder = mkdtempSync(join(tmpdir(), "capstan-evals-"));
const stock = defineTool({
  name: "stock",
  description: "Counts an item in the warehouse",
  input: { item: { type: "string", required: true } },
  effects: "none",
  execute: ({ item }) => `${item}: ${item.length * 3}`,
});

/** Stands for a model: the first version of the agent guesses, the second one looks it up. */
const createShop = (looksItUp: boolean) =>
  defineAgent({
    name: "shop",
    tools: [stock],
    model: scriptedModel(({ history }) => {
      const last = history.at(-1);
      if (last?.type === "result") return { text: `We have ${last.content}.` };
      const item = last?.type === "user" ? String(last.content) : "";
      return looksItUp ? { calls: [{ name: "stock", input: { item } }] } : { text: "Plenty." };
    }),
  });

const cases: readonly EvalCase[] = ["lamp", "chair", "desk", "bed", "sofa", "shelf"].map((item) => ({
  id: item,
  input: item,
  expected: `${item}: ${item.length * 3}`,
  calls: [{ name: "stock", input: { item } }],
}));

const createEval = (looksItUp: boolean) =>
  defineEval({
    name: "stock",
    agent: createShop(looksItUp),
    cases,
    scorers: [scorers.contains(), scorers.callSequence()],
    // `capstan eval --record` calls the tool and stores its answers; afterwards, it is never called.
    tools: { stock: "recorded" },
    recordings: join(folder, "stock.tools.jsonl"),
  });

const store = memory();
await runEval(createEval(true), { record: true });
const before = await runEval(createEval(false), { store });
const after = await runEval(createEval(true), { store, attempts: 2, concurrency: 3 });

console.log(
  `${before.summary.passed} of ${before.summary.results} passed, then ${after.summary.passed} of ${after.summary.results}`,
);
for (const { scorer, difference, interval, verdict } of compareExperiments(before, after).scorers)
  console.log(
    `${scorer}: ${difference > 0 ? "+" : ""}${difference}, between ${interval.join(" and ")}: ${verdict}`,
  );

// Every attempt is an ordinary run.
console.log(`${(await store.list()).length} sessions, the first run: ${after.results[0]?.text}`);
rmSync(folder, { recursive: true });
