import { defineAgent, defineTool, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { collect } from "capstan/testing";
import { describe, expect, it } from "vitest";
import { offline } from "../offline.ts";

const tides = defineTool({
  name: "tides",
  description: "The tides of a harbour",
  input: { type: "object", properties: { harbour: { type: "string" } }, required: ["harbour"] },
  examples: [{ phrase: "tides of {harbour}" }],
  effects: "none",
  execute: ({ harbour }) => ({
    message: `High water in ${harbour} is at 6:40.`,
    data: { harbour, high: "6:40" },
  }),
});

describe("the offline model, asked to sum up", () => {
  it("summarizes a turn in one sentence, from the tool results (S3-48)", async () => {
    const agent = defineAgent({
      name: "pilot",
      model: offline(),
      tools: [tides],
      policy: { summaries: true },
    });
    const { events } = await collect(run(agent, "Tides of Bergen?"));
    const summaries = events.flatMap((event) => (event.type === "turn_summary" ? [event.text] : []));
    expect(summaries[0]).toBe("Used tides: High water in Bergen is at 6:40.");
  });

  it("keeps questions and findings when older history is summarized (S2-32)", async () => {
    const agent = defineAgent({
      name: "pilot",
      model: offline(),
      tools: [tides],
      policy: { contextBudget: 150 },
    });
    const options = { store: memory(), session: "harbours" };
    const summaries: string[] = [];
    for (const harbour of ["Bergen", "Lisbon", "Galway", "Antwerp", "Leith", "Porto"]) {
      const { events } = await collect(run(agent, `Tides of ${harbour}?`, options));
      for (const event of events) if (event.type === "compacted") summaries.push(event.text ?? "");
    }
    expect(summaries.length).toBeGreaterThan(0);
    expect(summaries.at(-1)).toMatch(/Tides of Bergen/);
    expect(summaries.at(-1)).not.toMatch(/cannot|offline/);
  });
});
