import { defineTool } from "capstan";

/** Models miscount dates; a tool does not. */
export const daysBetween = defineTool({
  name: "days_between",
  description: "Counts the days from one date to another.",
  input: {
    type: "object",
    properties: {
      from: { type: "string", format: "date", description: "such as 2026-01-31" },
      to: { type: "string", format: "date" },
    },
    required: ["from", "to"],
  },
  // Example prompts. Every model sees them; the offline model matches sentences against them.
  examples: [
    { phrase: "How many days are there from {from} to {to}?" },
    { phrase: "Days between {from} and {to}" },
  ],
  // A pure computation: safe to repeat, needs no approval.
  effects: "none",
  execute: ({ from, to }) => ({ days: (Date.parse(to) - Date.parse(from)) / 86_400_000 }),
});
