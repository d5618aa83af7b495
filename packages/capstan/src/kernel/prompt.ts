import type { Agent, Instructions, InstructionsInput } from "./agent.ts";

export type StandardInstructions = {
  /** Free text about what the agent must or must not do. */
  readonly constraints?: string;
  /** Require a tool call before any answer; `auto`: before any but small talk and arithmetic. */
  readonly toolFirst?: boolean | "auto";
};

/**
 * Returns standard instructions, rebuilt for every turn: date, identity, rules for tools and their results, the tools,
 * constraints, and how to cite.
 */
export function standardInstructions(identity: string, options: StandardInstructions = {}): Instructions {
  return joinInstructions([
    dateSection,
    identitySection(identity),
    rulesSection(options),
    toolsSection,
    constraintsSection(options.constraints),
    citationSection,
  ]);
}

/**
 * Joins sections into instructions, in order. A section is a string or a function of the turn; empty ones are skipped.
 * Sections that read the context say so: `joinInstructions<{ user: string }>([…])`.
 */
export function joinInstructions<Context = unknown>(
  sections: readonly Instructions<Context>[],
): Instructions<Context> {
  const join = async (input: InstructionsInput<Context>) => {
    const texts = await Promise.all(
      sections.map((section) => (typeof section === "string" ? section : section(input))),
    );
    return texts.filter((text) => text !== "").join("\n\n");
  };
  // The version of an agent is computed from the sections.
  return Object.assign(join, { sections });
}

/** The date and time in the user's time zone. */
export function dateSection({ now }: Pick<InstructionsInput, "now">): string {
  return `It is ${now}.`;
}
Object.assign(dateSection, { summary: "date" });

/** The agent's identity and behavior. */
export function identitySection(identity: string): Instructions {
  return identity;
}

/** Rules for using tools and their results; empty for an agent without tools. */
export function rulesSection({
  toolFirst = false,
}: Pick<StandardInstructions, "toolFirst"> = {}): (input: Pick<InstructionsInput, "tools">) => string {
  const formatRules = ({ tools }: Pick<InstructionsInput, "tools">) => {
    if (tools.length === 0) return "";
    const rules = [
      "Answer from what the tools return, with the real names and values in it; never pass on a tool's message as the answer.",
      "If what you have is thin, use more tools, or ask one short question and then search.",
    ];
    const exception = toolFirst === "auto" ? " Only small talk and arithmetic need no tool." : "";
    if (toolFirst)
      rules.unshift(
        `Your first action must be a tool call; do not answer from general knowledge.${exception}`,
      );
    return rules.map((rule) => `- ${rule}`).join("\n");
  };
  return Object.assign(formatRules, {
    summary: `rules for tools${toolFirst ? `, tool first: ${toolFirst}` : ""}`,
  });
}

/** Every tool with its description. */
export function toolsSection({ tools }: Pick<InstructionsInput, "tools">): string {
  return tools.length === 0
    ? ""
    : `Tools:\n${tools.map(({ name, description }) => `- ${name}: ${description}`).join("\n")}`;
}
Object.assign(toolsSection, { summary: "tools" });

/** The agent's constraints; empty if it has none. */
export function constraintsSection(constraints = ""): Instructions {
  return constraints && `Constraints:\n${constraints}`;
}

/** How to cite; empty for an agent without tools. Never depends on what was found: providers cache the instructions. */
export function citationSection({ tools }: Pick<InstructionsInput, "tools">): string {
  return tools.length === 0
    ? ""
    : "Citations: tool results list sources by number. After each statement that a source supports, write its number in " +
        "square brackets, such as [1] or [1][2]. Use only numbers from results, which sources keep; never make one up.";
}
Object.assign(citationSection, { summary: "how to cite" });

/** Whether a tool of the agent, or of an agent that is its tool, may return passages to cite. */
export function hasCitableTools({ tools }: Pick<Agent, "tools">, known: Set<unknown> = new Set()): boolean {
  if (known.has(tools)) return false;
  known.add(tools);
  return [...tools.values()].some(
    ({ citable, agent }) => citable || (agent !== undefined && hasCitableTools(agent, known)),
  );
}

/** The instructions that the tools of an agent bring, in the order of the tools. */
export function listToolInstructions({ tools }: Pick<Agent, "tools">): readonly string[] {
  return [...tools.values()].flatMap(({ instructions }) => instructions ?? []);
}
