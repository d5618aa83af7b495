import { describe, expect, it } from "vitest";
import { memory } from "../stores/memory.ts";
import { listDatasets, loadCases, removeCase, removeDataset, saveCases, saveDataset } from "./records.ts";
import { createScorer, type ScorerData } from "./scorer-data.ts";

describe("a stored dataset", () => {
  it("has cases that are added, replaced and removed", async () => {
    const store = memory();
    await saveDataset(store, { name: "refunds", description: "Refund requests" });
    await saveDataset(store, { name: "greetings" });
    expect(await listDatasets(store)).toMatchObject([
      { name: "greetings" },
      { name: "refunds", description: "Refund requests" },
    ]);
    await saveCases(store, "refunds", [
      { id: "b", input: "B" },
      { id: "a", input: "A" },
    ]);
    await saveCases(store, "refunds", [{ id: "a", input: "A2", expected: "yes" }]);
    expect(await loadCases(store, "refunds")).toEqual([
      { id: "a", input: "A2", expected: "yes" },
      { id: "b", input: "B" },
    ]);
    expect(await loadCases(store, "greetings")).toEqual([]);
    await removeCase(store, "refunds", "b");
    expect(await loadCases(store, "refunds")).toHaveLength(1);
    await removeDataset(store, "refunds");
    await expect(loadCases(store, "refunds")).rejects.toMatchObject({ code: "not_found" });
    await saveDataset(store, { name: "refunds" });
    expect(await loadCases(store, "refunds")).toEqual([]);
  });

  it("refuses bad names and cases, and stores none of a list with a bad one", async () => {
    const store = memory();
    for (const name of ["", "a/b", ".hidden", "x".repeat(81)])
      await expect(saveDataset(store, { name })).rejects.toMatchObject({ code: "invalid_input" });
    await saveDataset(store, { name: "d" });
    await expect(
      saveCases(store, "d", [
        { id: "a", input: "A" },
        { id: "", input: "B" },
      ]),
    ).rejects.toThrow("its id");
    expect(await loadCases(store, "d")).toEqual([]);
    await expect(saveCases(store, "e", [])).rejects.toMatchObject({ code: "not_found" });
    await expect(removeCase(store, "d", "a")).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("a scorer as data", () => {
  it.each<[ScorerData, string]>([
    ["exact", "exact"],
    [{ type: "callSequence", match: "in order" }, "callSequence"],
    [{ type: "maxTurns", limit: 3 }, "maxTurns"],
    [{ type: "jsonSchema", schema: { type: "object" } }, "jsonSchema"],
    [{ type: "judge", rubric: "Good?", model: "offline" }, "judge"],
  ])("%j is created", (data, name) => {
    expect(createScorer(data).name).toBe(name);
  });

  it.each([
    ["exat", 'Did you mean "exact"?'],
    [{ type: "maxTurns" }, "it needs a limit from 0"],
    [{ type: "judge", model: "offline" }, "it needs a rubric"],
    [{ type: "callSequence", match: "loose" }, "its match is"],
    [{ type: "toString" }, "there is no such type"],
  ])("%j is refused by name", (data, problem) => {
    expect(() => createScorer(data as ScorerData)).toThrow(problem);
  });
});
