import type { Instructions, InstructionsInput } from "../agent.ts";
import { contextSection } from "./context-section.ts";

export type StandardInstructions = {
  /** What this agent must or must not do, in its own words. */
  readonly constraints?: string;
  /** Demand a tool call before any answer. */
  readonly toolFirst?: boolean;
};

/**
 * Instructions in the usual order, made anew every turn: date, identity, how to use tools and their results, the
 * tools, what has been found so far, the agent's own constraints, and how to cite.
 */
export function standardInstructions(identity: string, options: StandardInstructions = {}): Instructions {
  return joinInstructions([
    dateSection,
    identitySection(identity),
    rulesSection(options),
    toolsSection,
    contextSection(),
    constraintsSection(options.constraints),
    citationSection,
  ]);
}

/** Instructions from sections, in this order. A section is a text, or a function of the turn; an empty one is left out. */
export function joinInstructions(sections: readonly Instructions[]): Instructions {
  return async (input) => {
    const texts = await Promise.all(
      sections.map((section) => (typeof section === "string" ? section : section(input))),
    );
    return texts.filter((text) => text !== "").join("\n\n");
  };
}

/** The date and time where the user is. */
export function dateSection({ now }: Pick<InstructionsInput, "now">): string {
  return `It is ${now}.`;
}

/** Who the agent is, and how it behaves. */
export function identitySection(identity: string): Instructions {
  return identity;
}

/** How to use tools and their results; empty for an agent without tools. */
export function rulesSection({
  toolFirst = false,
}: Pick<StandardInstructions, "toolFirst"> = {}): (input: Pick<InstructionsInput, "tools">) => string {
  return ({ tools }) => {
    if (tools.length === 0) return "";
    const rules = [
      "Answer from what the tools return, with the real names and values in it; never pass on a tool's message as the answer.",
      "If what you have is thin, use more tools, or ask one short question and then search.",
    ];
    if (toolFirst)
      rules.unshift("Your first action must be a tool call; do not answer from general knowledge.");
    return rules.map((rule) => `- ${rule}`).join("\n");
  };
}

/** Every tool with its description. */
export function toolsSection({ tools }: Pick<InstructionsInput, "tools">): string {
  return tools.length === 0
    ? ""
    : `Tools:\n${tools.map(({ name, description }) => `- ${name}: ${description}`).join("\n")}`;
}

/** What this agent must or must not do; empty when it has no such words. */
export function constraintsSection(constraints = ""): Instructions {
  return constraints && `Constraints:\n${constraints}`;
}

/** How to cite, once there is something to cite. */
export function citationSection({ fragments }: Pick<InstructionsInput, "fragments">): string {
  return fragments.length === 0
    ? ""
    : "Citations: after each statement that a source supports, write its number in square brackets, such as [1] or [1][2]. " +
        "Use only numbers of the sources above, which keep their numbers; never make one up.";
}
