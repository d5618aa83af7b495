import { assert, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { createToolIndex } from "./rank-tools.ts";

const describeTool = (name: string, description: string, parameters: readonly string[] = []) => ({
  name,
  description,
  input: { properties: Object.fromEntries(parameters.map((key) => [key, {}])) },
});

const specs = [
  describeTool("createInvoice", "Bills a customer", ["due_date"]),
  describeTool("list_invoices", "Lists what was billed, by customer and date"),
  describeTool("cancel_booking", "Cancels a reservation", ["booking_id"]),
  describeTool("open_gate_1", "Opens gate 1"),
  describeTool("open_gate_17", "Opens gate 17"),
  describeTool("s3_put", "Stores a file"),
  describeTool("ring", "Wakes somebody"),
  describeTool("hotel_suche", "Sucht Hotels in einer Stadt: Zürich, Genf"),
  describeTool("天気予報", "東京の天気を調べる"),
];
const index = createToolIndex(specs, { ring: [{ phrase: "set an alarm for {time}" }] });
const rank = (query: string) => index.rank(query).map(({ name }) => name);

describe("the ranking of tools", () => {
  it("prefers words in the name, and rare words to common ones", () => {
    expect(rank("invoice")).toEqual(["createInvoice", "list_invoices"]);
    const calls = createToolIndex([
      describeTool("note", "Notes a call"),
      describeTool("log_call", "Notes it"),
    ]);
    expect(calls.rank("call").map(({ name }) => name)).toEqual(["log_call", "note"]);
    expect(rank("customer reservation")[0]).toBe("cancel_booking");
  });

  it.each([
    ["Creating INVOICES", "createInvoice"],
    ["cancelled reservations", "cancel_booking"],
    ["cancellation", "cancel_booking"],
    ["due dates", "createInvoice"],
    ["alarms", "ring"],
    ["S3 bucket", "s3_put"],
    ["gate 17", "open_gate_17"],
    ["hotel in zurich", "hotel_suche"],
    ["天気", "天気予報"],
  ])("finds %s in any form, by parameters and examples too", (query, name) => {
    expect(rank(query)[0]).toBe(name);
  });

  it("leaves out tools without any of the words, and is empty for none", () => {
    expect(rank("elephant")).toEqual([]);
    expect(rank("the of and")).toEqual([]);
    expect(createToolIndex([]).rank("invoice")).toEqual([]);
  });

  it("gives the same order for any query, each tool at most once", () => {
    assert(
      property(string({ unit: "binary" }), (query) => {
        const names = rank(query);
        expect(new Set(names).size).toBe(names.length);
        expect(rank(query)).toEqual(names);
      }),
    );
  });
});
