import { readFileSync } from "node:fs";
import { beforeAll, expect, it } from "vitest";
import { columns } from "./model-features/catalog.ts";
import { checkCell } from "./model-features/check-cell.ts";
import { buildTable, type FeatureTable, formatTable, replaceTable } from "./model-features.ts";

let table: FeatureTable;
beforeAll(async () => {
  table = await buildTable();
});

it("every client sends what its limits allow, and nothing that they exclude", () => {
  expect(table.problems).toEqual([]);
});

it("the table in docs/models.md is what the clients send", () => {
  const page = readFileSync(`${import.meta.dirname}/../docs/models.md`, "utf8");
  expect(replaceTable(page, formatTable(table)), "Run npm run model-features.").toBe(page);
});

it("a setting that gets lost on the way to the provider is found", async () => {
  const [column] = columns;
  if (!column) throw new Error("No columns.");
  const feature = { label: "temperature", settings: { temperature: 0.5 } };
  const lossy = {
    ...column,
    models: ["gpt-4.1"],
    create: (model: string, capture: Parameters<typeof column.create>[1]) => {
      const client = column.create(model, capture);
      return { ...client, stream: ({ settings: _, ...request }, options) => client.stream(request, options) };
    },
  } satisfies typeof column;
  expect(await checkCell(feature, { ...column, models: ["gpt-4.1"] })).toEqual({ cell: "yes" });
  expect((await checkCell(feature, lossy)).problem).toContain("temperature is not sent to gpt-4.1");
});
