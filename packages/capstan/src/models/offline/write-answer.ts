import { plainText, type ResultEntry } from "../../history.ts";
import { isRecord, type Json } from "../../json.ts";
import type { ModelRequest, ToolSpec } from "../../model.ts";
import { citeSources, sourcesOf } from "./cite-sources.ts";
import { describeData } from "./describe-data.ts";
import { doneSince } from "./done-calls.ts";
import { type Property, propertiesOf } from "./properties.ts";
import { dataOf } from "./refer-back.ts";
import { lastSaid } from "./understand.ts";

const whoAmI = "I am an offline model that follows rules, not an AI";

/** An answer from what the tools gave since the person spoke. Every name and number in it comes from there. */
export function writeAnswer(request: ModelRequest): string {
  const done = doneSince(request.history);
  const results = done.flatMap(({ result }, at) => {
    if (!result) return [];
    // A failure that was made good is not worth a word.
    const isRetried =
      result.status === "error" && done.slice(at + 1).some(({ result: later }) => later?.status === "ok");
    return isRetried ? [] : [result];
  });
  const said = smallTalk(lastSaid(request.history).text, request.tools);
  if (results.length === 0) return said ?? cannot(request.tools);
  const hasContexts = results.some(({ contexts }) => contexts?.length);
  // What only the instructions list may be about an earlier question: it has to fit this one well.
  const cited = citeSources(lastSaid(request.history).text, sourcesOf(request), hasContexts ? 0 : 2);
  const hideIds = /\b(?:never|not|don't|no)\b[^.\n]*\bids?\b/iu.test(request.instructions);
  const lines = results
    .filter(({ contexts, status }) => !(hasContexts && cited && status === "ok" && contexts?.length))
    .map((result) => tellResult(result, hideIds));
  return [...lines, cited].filter((line) => line !== "").join("\n\n") || "The tools gave nothing back.";
}

function tellResult(result: ResultEntry, hideIds: boolean): string {
  const { name, status, content, error } = result;
  const text = plainText(content).trim();
  switch (status) {
    case "error":
      return `That did not work: ${name} failed. ${sentence(error?.message ?? text)}`;
    case "denied":
      return `${name} was not allowed, so it was not done.${error || !text ? "" : ` ${sentence(text)}`}`;
    case "skipped":
      return `${name} was skipped.`;
    case "interrupted":
      return `${name} was interrupted: it may or may not have taken effect.`;
    case "ok":
      return tellData(result, text, hideIds);
  }
}

function tellData(result: ResultEntry, text: string, hideIds: boolean): string {
  const data = dataOf(result);
  if (data === undefined) return text === "" ? `${result.name} is done.` : shortened(text);
  const message = messageIn(data) ?? messageIn(parsed(text)) ?? (/^[[{]/u.test(text) ? undefined : text);
  const told = describeData(data, { hideIds });
  if (told === "") return message ? sentence(message) : `${result.name} is done.`;
  // A tool's message is a poor answer where there is data, except where there is little of it.
  const isThin = !told.includes("\n") || /^No /mu.test(told);
  return message && isThin && !told.includes(message) ? `${sentence(message)}\n${told}` : told;
}

const messageIn = (data: unknown): string | undefined =>
  isRecord(data) && typeof data.message === "string" && data.message !== "" ? data.message : undefined;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // plain words
  }
}

const shortened = (text: string): string =>
  text.length > 1500 ? `${text.slice(0, 1499).toWellFormed()}…` : text;
const sentence = (text: string): string => (/[.!?…]$/u.test(text) ? text : `${text}.`);

/** Greetings, thanks, and the question what it can do. */
export function smallTalk(text: string, tools: readonly ToolSpec[]): string | undefined {
  const plain = text
    .trim()
    .toLowerCase()
    .replace(/[!.?,\s]+$/u, "");
  if (/^(?:hi|hello|hey|good (?:morning|afternoon|evening)|greetings)(?: there| you)?$/u.test(plain))
    return `Hello. ${whoAmI}. ${abilities(tools)}`;
  if (/^(?:thanks|thank you|thx|cheers|great|perfect|nice)(?:\b.{0,20})?$/u.test(plain))
    return "You are welcome.";
  if (
    /^(?:help|who are you|what are you|are you an? (?:ai|robot|bot|human)|what (?:else )?can you (?:do|help)|how can you help|what do you do)\b/u.test(
      plain,
    )
  )
    return `${whoAmI}. ${abilities(tools)}`;
  return undefined;
}

const cannot = (tools: readonly ToolSpec[]): string =>
  `I cannot answer that: ${whoAmI}, and I only know what the tools tell me. ${abilities(tools)}`;

function abilities(tools: readonly ToolSpec[]): string {
  if (tools.length === 0) return "I have no tools to work with now.";
  const lines = tools.slice(0, 12).map(({ name, description }) => `- ${name}: ${firstSentence(description)}`);
  return `I can use these tools:\n${[...lines, ...(tools.length > 12 ? ["- and more"] : [])].join("\n")}`;
}

const firstSentence = (text: string): string => shortened(/^.*?[.!?](?=\s|$)/su.exec(text)?.[0] ?? text);

/** One short question for what a tool needs. */
export function askFor(tool: string, { name, description, choices }: Property): string {
  const words = name
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replaceAll("_", " ")
    .toLowerCase();
  const about =
    choices.length > 0 ? choices.slice(0, 8).map(String).join(", ") : description.replace(/[.\s]+$/u, "");
  return `For ${tool} I need to know: ${words}${about && ` (${about})`}. What should it be?`;
}

/** An answer in the form that was asked for: what the results have under these names, and the words where text fits. */
export function formAnswer(request: ModelRequest, text: string): string {
  const form: ToolSpec = { name: "answer", description: "", input: request.output ?? {} };
  const known = doneSince(request.history).flatMap(({ result }) => (result ? [dataOf(result)] : []));
  const found: Record<string, Json> = {};
  for (const { name, type, choices } of propertiesOf(form)) {
    const holder = known.findLast((data) => isRecord(data) && Object.hasOwn(data, name));
    if (isRecord(holder)) found[name] = holder[name] as Json;
    else if (type === "string" && choices.length === 0) found[name] = text;
    else if (type === "array") found[name] = [];
  }
  return JSON.stringify(found);
}
