import { type ModelRequest, toPlainText } from "capstan";
import { type Call, getCallRecords } from "../dialog/call-records.ts";
import { getLastUtterance, parseIntents } from "../dialog/parse-intents.ts";
import { tokenize, toNameStems } from "../language/words.ts";
import { hasTemplateMatch } from "../matching/match-tool.ts";
import { removeCalls } from "./tool-search.ts";

const loadName = "load_skill";

/** Removes the loading of skills from a request, so that the rules only match what the user wants. */
export function withoutSkills(request: ModelRequest): ModelRequest {
  const { tools, history } = request;
  if (!tools.some(({ name }) => name === loadName)) return request;
  return {
    ...request,
    tools: tools.filter(({ name }) => name !== loadName),
    history: removeCalls(history, loadName),
  };
}

/** Loads the skill that the user names, or whose description the message fits, once per message and before other calls. */
export function planSkill({ tools, history, toolChoice, instructions }: ModelRequest): Call | undefined {
  if (toolChoice === "none" || history.at(-1)?.type !== "user") return undefined;
  if (!tools.some(({ name }) => name === loadName)) return undefined;
  const { text } = getLastUtterance(history);
  const name = findNamedSkill(text) ?? findFittingSkill(text, { tools, instructions });
  return name === undefined ? undefined : { name: loadName, input: { name } };
}

/** Finds the name in "use the release-notes skill" or "the skill release-notes". */
function findNamedSkill(text: string): string | undefined {
  const [, before, after] =
    /\bthe ([a-z0-9]+(?:-[a-z0-9]+)*) skill\b|\bskill ([a-z0-9]+(?:-[a-z0-9]+)+)\b/iu.exec(text) ?? [];
  return (before ?? after)?.toLowerCase();
}

const stopWords = new Set(
  "a an and any are as at be by can do for from how i if in into is it me my of on or our please skill that the their them then this to use used user want we what when which with you your".split(
    " ",
  ),
);

const toStems = (text: string): ReadonlySet<string> =>
  new Set(tokenize(text).flatMap(({ raw }) => toNameStems(raw).filter((stem) => !stopWords.has(stem))));

/** A skill fits if the message has all words of its name, or two words of its name and description. */
function findFittingSkill(
  text: string,
  { tools, instructions }: Pick<ModelRequest, "tools" | "instructions">,
): string | undefined {
  const others = tools.filter(({ name }) => name !== loadName);
  if (parseIntents(text, others).some(({ match }) => hasTemplateMatch(match))) return undefined;
  const said = toStems(text);
  const scored = listSkills(instructions).map(({ name, description }) => {
    const ownStems = toNameStems(name);
    const known = new Set([...ownStems, ...toStems(description)]);
    const score = [...known].filter((stem) => said.has(stem)).length;
    return { name, score: ownStems.every((stem) => said.has(stem)) ? score + 2 : score };
  });
  const [best] = scored.toSorted((left, right) => right.score - left.score);
  return best && best.score >= 2 ? best.name : undefined;
}

/** Reads the catalogue of skills in the instructions. */
function listSkills(
  instructions: string,
): readonly { readonly name: string; readonly description: string }[] {
  const [, catalogue = ""] = /`load_skill`[^\n]*:\n((?:- .+(?:\n|$))+)/u.exec(instructions) ?? [];
  return [...catalogue.matchAll(/^- ([a-z0-9-]+): (.+)$/gmu)].map(([, name = "", description = ""]) => ({
    name,
    description,
  }));
}

const maxAnswerLength = 4_000;

/** Answers with the skill that was loaded for the last message, if nothing else was done with it. */
export function describeLoadedSkill({ history }: ModelRequest): string | undefined {
  const records = getCallRecords(history);
  const loaded = records.find(({ call }) => call.name === loadName);
  if (!loaded?.result || records.length > 1) return undefined;
  const { status, content, error } = loaded.result;
  if (status !== "ok") return `The skill could not be loaded. ${error?.message ?? ""}`.trim();
  const text = toPlainText(content).slice(0, maxAnswerLength).toWellFormed();
  const quoted = text.split("\n").map((line) => `> ${line}`.trimEnd());
  return [
    "I loaded a skill. I follow rules, so I cannot work with its text as an AI model would:",
    "",
    ...quoted,
  ].join("\n");
}
