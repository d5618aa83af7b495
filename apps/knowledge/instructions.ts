import { planInstructions } from "@capstan/tools";
import {
  citationSection,
  constraintsSection,
  contextSection,
  dateSection,
  type Instructions,
  identitySection,
  joinInstructions,
  rulesSection,
  toolsSection,
} from "capstan";

/** Somebody to hand over to, and when. */
export type Specialist = { readonly name: string; readonly when: string };

export type SearcherPrompt = {
  readonly identity: string;
  readonly constraints?: string;
  readonly specialists?: readonly Specialist[];
  /** Whether it keeps a list of sub-tasks, with the tool `plan`. */
  readonly isPlanning?: boolean;
};

/**
 * The prompt of an agent that searches, made anew every turn: the date where the user is, who it is, that it must search
 * before it answers, how to go about it, the tools, whom to hand over to, what was found, its constraints, how to cite.
 */
export function searcherInstructions({
  identity,
  constraints = "",
  specialists = [],
  isPlanning = false,
}: SearcherPrompt): Instructions {
  return joinInstructions([
    dateSection,
    identitySection(identity),
    rulesSection({ toolFirst: true }),
    isPlanning ? planInstructions.checklist : planInstructions.steps,
    toolsSection,
    specialistsSection(specialists),
    contextSection(),
    constraintsSection(constraints),
    citationSection,
  ]);
}

function specialistsSection(specialists: readonly Specialist[]): string {
  if (specialists.length === 0) return "";
  const lines = specialists.map(({ name, when }) => `- ${name}: ${when}`);
  return ["Agents to hand over to, with the tool handoff:", ...lines].join("\n");
}
