// Grades the reaction of an app to a sentence. Where in doubt, the grade is `wrong`.

import { type Agent, isRecord, type Result, run, type Tool } from "capstan";
import { memory } from "capstan/stores/memory";
import { classifyReply } from "./classify-reply.ts";
import type { ExpectedInput, Sentence, Understanding } from "./sentence.ts";

export type Grade = "understood" | "asked" | "declined" | "wrong";
export type GradedReply = { readonly grade: Grade; readonly text: string };

/** Says the sentence to the agent, after the earlier messages, and grades the reply. */
export async function grade(agent: Agent, sentence: Sentence): Promise<GradedReply> {
  const options = { store: memory(), session: "ses_first_words" };
  for (const text of sentence.after ?? []) await send(agent, text, options);
  const result = await send(agent, sentence.user, options);
  return { grade: gradeResult(agent, sentence, result), text: result.text };
}

/** Approves every call that needs it. */
async function send(agent: Agent, text: string, options: Parameters<typeof run>[2]): Promise<Result> {
  const running = run(agent, text, options);
  let result = await running;
  while (result.status === "waiting") {
    for (const { callId } of result.pending) running.approve(callId);
    result = await running;
  }
  return result;
}

function gradeResult(agent: Agent, { understood, allows }: Sentence, result: Result): Grade {
  const tools = agent.toolSource?.() ?? [...agent.tools.values()];
  if (result.status !== "done" || exposesInternals(result.text, tools)) return "wrong";
  if (understood && meets(understood, result)) return "understood";
  if (result.citations.length > 0 || hasChanged(result, tools)) return "wrong";
  const reply = classifyReply(result.text);
  if (reply === "claim" || (allows && !allows.includes(reply))) return "wrong";
  return reply === "ask" ? "asked" : "declined";
}

function meets(
  { calls = [], answers = [], never = [] }: Understanding,
  { text, toolCalls }: Result,
): boolean {
  const contains = (part: string | RegExp): boolean =>
    typeof part === "string" ? text.toLowerCase().includes(part.toLowerCase()) : part.test(text);
  const isMade = ([tool, input]: readonly [tool: string, input?: ExpectedInput]): boolean =>
    toolCalls.some(
      (call) => call.status === "ok" && call.name === tool && (!input || matchesInput(call.input, input)),
    );
  return calls.every(isMade) && answers.every(contains) && !never.some(contains);
}

function matchesInput(input: unknown, expected: ExpectedInput): boolean {
  if (expected instanceof RegExp) return expected.test(JSON.stringify(input));
  return Object.entries(expected).every(([name, value]) => {
    const given = isRecord(input) ? input[name] : undefined;
    return value instanceof RegExp ? value.test(JSON.stringify(given) ?? "") : given === value;
  });
}

/** A tool of a server that declares no effects counts as one that changes something. */
function hasChanged({ affected, toolCalls }: Result, tools: readonly Tool[]): boolean {
  const changing = tools.filter(({ effects = "state" }) => effects === "state").map(({ name }) => name);
  return (
    affected.length > 0 || toolCalls.some(({ name, status }) => status === "ok" && changing.includes(name))
  );
}

/** Whether the text names a tool, or contains a selector, a field of a tool or the JSON of a result. */
function exposesInternals(text: string, tools: readonly Tool[]): boolean {
  const names = tools.flatMap(({ name }) => [name, name.replace(/^mcp_[a-z]+_/, "")]);
  const technicalNames = names.filter((name) => /_|[a-z][A-Z]/.test(name));
  const words = new Set(text.match(/\w+/g));
  return technicalNames.some((name) => words.has(name)) || internals.test(text);
}

/** A field, a selector, the id of a web page, or JSON at the start. Files and documentation may contain other JSON. */
const internals =
  /\b(?:poiId|nodeIds?|edgeIds?|categoryId|buildingId|featureId|success|TOOL_CALL|ARGUMENTS)"?:|\b\w+ [=!]= '|\bweb_[0-9a-f]{6,}|^\s*[[{]"/;
