import { isNewCall } from "../dialog/call-records.ts";
import type { FillResult, OpenReference } from "../dialog/fill-arguments.ts";
import type { Intent } from "../dialog/parse-intents.ts";
import { hasPointer, isPointerPhrase } from "../language/pointers.ts";
import { isFiller } from "../language/synonyms.ts";
import { joinWords, tokenize, toNameStems } from "../language/words.ts";
import { createSearchCall } from "./find-search.ts";
import { createCallStep, type PlanContext, type Step } from "./step.ts";

/** Looks up or asks for the arguments that an intent still needs. */
export function planMissingArguments(intent: Intent, { open, missing }: FillResult, plan: PlanContext): Step {
  const { request, records, context } = plan;
  const { tool } = intent.match;
  const made = records.map(({ call }) => call);
  const unclear = open.find(({ resolution }) => resolution.type === "unclear");
  if (unclear?.resolution.type === "unclear")
    return { type: "which", phrase: unclear.phrase, candidates: unclear.resolution.candidates };
  const [property] = missing;
  const sought = [
    ...open.filter(isUnknown).map(({ property: wanted, phrase }) => ({ property: wanted, phrase, tool })),
    ...(property?.isReference ? [{ property, phrase: extractSearchPhrase(intent), tool }] : []),
  ];
  const calls = sought
    .filter(({ phrase }) => phrase !== "" && !isPointerPhrase(tokenize(phrase)) && !isUniversal(phrase))
    .flatMap((one) => createSearchCall(one, request.tools, context) ?? [])
    .filter((call) => isNewCall(call, made));
  const needed = sought[0]?.property ?? property;
  if (calls.length > 0)
    return createCallStep(calls, `${tool.name} needs ${needed?.name}, which is looked up first.`);
  // The results so far are more useful than a question.
  if (!needed || (records.length > 0 && needed.minItems < 2)) return { type: "answer" };
  return { type: "ask", tool, property: needed };
}

/** True for words such as "everything", which cannot be searched for. */
const isUniversal = (phrase: string): boolean =>
  tokenize(phrase).every((word) => isFiller(word) || /^(?:every|any)(?:thing|one)$|^stuff$/u.test(word.stem));

const isUnknown = ({ resolution }: OpenReference): boolean => resolution.type === "unknown";

/** The utterance without the tool's own words: "Blue Door" in "show the Blue Door on the map". */
function extractSearchPhrase({ words, match: { tool } }: Intent): string {
  if (hasPointer(words)) return "";
  const own = new Set(toNameStems(tool.name));
  const about = new Set(tokenize(tool.description).map(({ stem }) => stem));
  const rest = words.filter(({ raw, stem }) => !own.has(stem) && (/^\p{Lu}/u.test(raw) || !about.has(stem)));
  const first = rest.findIndex((word) => !isFiller(word));
  return first < 0 ? "" : joinWords(rest.slice(first));
}
