import { type Agent, defineAgent, defineTool } from "capstan";
import { createModel } from "./durable-cell.ts";

/** A tool call and its model call are two steps, the last answer is one. */
export const countSteps = (toolTurns: number): number => 2 * toolTurns + 1;

/** Characters of a tool result, as of a search or a page of records. */
export const resultSize = 1_000;

/** An agent whose model and tool answer at once, so that only the runtime, the engine and the database cost time. */
export function createBenchAgent(toolTurns: number): Agent {
  const square = defineTool({
    name: "square",
    description: "Squares a number",
    input: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] },
    effects: "none",
    reads: ["public"],
    execute: ({ number }) => `The square of ${number} is ${number * number}. `.padEnd(resultSize, "It is. "),
  });
  const policy = { maxTurns: "unlimited" } as const;
  return defineAgent({ name: "bench", model: createModel(toolTurns, "square"), tools: [square], policy });
}
