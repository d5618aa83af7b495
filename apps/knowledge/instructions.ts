import { planInstructions } from "@capstan/tools";
import {
  citationSection,
  constraintsSection,
  dateSection,
  type Instructions,
  identitySection,
  joinInstructions,
  rulesSection,
  toolsSection,
} from "capstan";

/** An agent to hand off to, and when. */
export type Specialist = { readonly name: string; readonly when: string };

export type SearcherPrompt = {
  readonly identity: string;
  readonly constraints?: string;
  readonly specialists?: readonly Specialist[];
  /** Keep a list of sub-tasks with the tool `plan`. */
  readonly isPlanning?: boolean;
};

/**
 * The prompt of a searching agent, rebuilt every turn: the user's date, identity, the rule to search before answering,
 * how to proceed, tools, specialists, constraints, and how to cite.
 */
export function buildInstructions({
  identity,
  constraints = "",
  specialists = [],
  isPlanning = false,
}: SearcherPrompt): Instructions {
  return joinInstructions([
    dateSection,
    identitySection(identity),
    rulesSection({ toolFirst: "auto" }),
    isPlanning ? planInstructions.checklist : planInstructions.steps,
    toolsSection,
    formatSpecialists(specialists),
    constraintsSection(constraints),
    citationSection,
  ]);
}

function formatSpecialists(specialists: readonly Specialist[]): string {
  if (specialists.length === 0) return "";
  const lines = specialists.map(({ name, when }) => `- ${name}: ${when}`);
  return ["Agents you can hand off to with the tool handoff:", ...lines].join("\n");
}
