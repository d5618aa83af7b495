import type { Instructions, InstructionsInput } from "./agent.ts";

export type StandardInstructions = {
  /** What this agent must or must not do, in its own words. */
  readonly constraints?: string;
  /** Demand a tool call before any answer. */
  readonly toolFirst?: boolean;
};

/**
 * Instructions in the usual order, made anew every turn: date, identity, how to use tools and their results, the
 * tools, what has been found so far, and the agent's own constraints.
 */
export function standardInstructions(identity: string, options: StandardInstructions = {}): Instructions {
  return (input) =>
    [
      `It is ${input.now}.`,
      identity,
      howToWork(input, options),
      toolOverview(input),
      found(input),
      constraintsOf(options),
    ]
      .filter((section) => section !== "")
      .join("\n\n");
}

function howToWork({ tools }: InstructionsInput, { toolFirst }: StandardInstructions): string {
  if (tools.length === 0) return "";
  const rules = [
    "Answer from what the tools return, with the real names and values in it; never pass on a tool's message as the answer.",
    "If what you have is thin, use more tools, or ask one short question and then search.",
  ];
  if (toolFirst)
    rules.unshift("Your first action must be a tool call; do not answer from general knowledge.");
  return rules.map((rule) => `- ${rule}`).join("\n");
}

function toolOverview({ tools }: InstructionsInput): string {
  return tools.length === 0
    ? ""
    : `Tools:\n${tools.map(({ name, description }) => `- ${name}: ${description}`).join("\n")}`;
}

function found({ fragments }: InstructionsInput): string {
  const lines = fragments.map(({ source, content }, index) => `[${index + 1}] ${source.title}: ${content}`);
  return lines.length === 0 ? "" : `Found so far:\n${lines.join("\n")}`;
}

function constraintsOf({ constraints = "" }: StandardInstructions): string {
  return constraints && `Constraints:\n${constraints}`;
}
