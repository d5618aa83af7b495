import { type ModelRequest, type ResultEntry, toPlainText } from "capstan";
import { isSure } from "./match-tool.ts";
import { fillers, likeness } from "./meanings.ts";
import type { Situation, Step } from "./plan-step.ts";
import { propertiesOf } from "./properties.ts";
import { handoffName } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/** To whom it was handed over, this tells who they are; the answer takes its place. */
export const isOpenHandoff = ({ content }: ResultEntry): boolean =>
  /^You are now "/u.test(toPlainText(content));

/**
 * Hands over to the agent that the instructions describe with what is asked for first: "Compare …" goes to the one that
 * compares. Not when a tool of its own is made for the sentence, and once.
 */
export function handOver({ request, done, meaning }: Situation): Step | undefined {
  const tool = request.tools.find(({ name }) => name === handoffName);
  if (!tool || done.length > 0 || meaning.wishes.some(({ match }) => isSure(match))) return undefined;
  const verb = wordsOf(meaning.text).find(({ stem }) => !fillers.has(stem));
  const agents = propertiesOf(tool).find(({ name }) => name === "agent")?.choices ?? [];
  const meant = agents.find(
    (agent) => verb && wordsAbout(String(agent), request).some((stem) => likeness(verb.stem, stem) >= 0.9),
  );
  if (meant === undefined) return undefined;
  const call = { name: handoffName, input: { agent: meant, message: meaning.text } };
  return { type: "call", calls: [call], why: `The instructions leave this to ${String(meant)}.` };
}

/** The words of the lines that name an agent. */
function wordsAbout(agent: string, { instructions }: ModelRequest): string[] {
  const lines = instructions.split("\n").filter((line) => line.includes(agent));
  return wordsOf(lines.join(" ").replaceAll(agent, " "))
    .map(({ stem }) => stem)
    .filter((stem) => !fillers.has(stem));
}
