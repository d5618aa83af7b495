import { defineAgent, run } from "capstan";
import {
  defineEval,
  expectEval,
  loadCases,
  loadRunCase,
  parseCases,
  type Scorer,
  saveCases,
  saveDataset,
  scorers,
} from "capstan/evals";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";

const store = memory();
const guide = defineAgent({
  name: "guide",
  model: scriptedModel(() => ({ text: "The museum opens at nine." })),
});

// From a file, and from a run whose answer a user has corrected.
await saveDataset(store, { name: "opening hours", description: "What visitors ask" });
const file = "id,input,expected\nmuseum,When does the museum open?,at nine\n";
await saveCases(store, "opening hours", parseCases(file, "csv"));
const { runId } = await run(guide, "And on Mondays?", { store });
await saveCases(store, "opening hours", [
  await loadRunCase(store, runId, { id: "mondays", expected: "closed", notes: "It is closed on Mondays." }),
]);

/** A scorer of your own is a function over the facts of a run. */
const brief: Scorer = {
  name: "brief",
  score: ({ text }) => ({ value: text.length <= 40 ? 1 : 0, reason: `${text.length} characters` }),
};

const hours = defineEval({
  name: "opening hours",
  agent: guide,
  cases: () => loadCases(store, "opening hours"),
  scorers: [scorers.contains(), brief],
  thresholds: { passRate: 0.5, scores: { brief: 1 } },
});

// In a test of any runner: rejects if a threshold is not reached, with the cases that failed.
const { summary } = await expectEval(hours);
for (const { scorer, mean, interval } of summary.scorers)
  console.log(`${scorer}: ${mean}, between ${interval.map((end) => end.toFixed(2)).join(" and ")}`);
