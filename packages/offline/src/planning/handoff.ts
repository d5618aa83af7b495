import { type ModelRequest, type ResultEntry, toPlainText } from "capstan";
import { computeSimilarity, fillers } from "../language/synonyms.ts";
import { tokenize } from "../language/words.ts";
import { hasTemplateMatch } from "../matching/match-tool.ts";
import { getProperties } from "../matching/properties.ts";
import { handoffName } from "../matching/vocabulary.ts";
import type { PlanContext, Step } from "./step.ts";

/** True while a handoff has not been answered: its result still holds the introduction of the new agent. */
export const isOpenHandoff = ({ content }: ResultEntry): boolean =>
  /^You are now "/u.test(toPlainText(content));

/**
 * Hands off to the agent whose description in the instructions contains the verb of the request: "Compare …" goes to the
 * agent that compares. At most once per request, and not if a tool matches the sentence.
 */
export function planHandoff({ request, records, interpretation }: PlanContext): Step | undefined {
  const tool = request.tools.find(({ name }) => name === handoffName);
  if (!tool || records.length > 0 || interpretation.intents.some(({ match }) => hasTemplateMatch(match)))
    return undefined;
  const verb = tokenize(interpretation.text).find(({ stem }) => !fillers.has(stem));
  const agents = getProperties(tool).find(({ name }) => name === "agent")?.choices ?? [];
  const meant = agents.find(
    (agent) =>
      verb &&
      collectAgentWords(String(agent), request).some((stem) => computeSimilarity(verb.stem, stem) >= 0.9),
  );
  if (meant === undefined) return undefined;
  const call = { name: handoffName, input: { agent: meant, message: interpretation.text } };
  return { type: "call", calls: [call], why: `The instructions delegate this to ${String(meant)}.` };
}

/** The topic words of the instruction lines that name an agent. */
function collectAgentWords(agent: string, { instructions }: ModelRequest): string[] {
  const lines = instructions.split("\n").filter((line) => line.includes(agent));
  return tokenize(lines.join(" ").replaceAll(agent, " "))
    .map(({ stem }) => stem)
    .filter((stem) => !fillers.has(stem));
}
