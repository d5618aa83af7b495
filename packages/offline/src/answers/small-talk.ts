import type { ModelRequest, ToolSpec } from "capstan";
import { getLastUtterance } from "../dialog/parse-intents.ts";
import { extractRequest, stripGreeting } from "../language/clauses.ts";
import { isForeign } from "../language/is-foreign.ts";
import { isRemoval } from "../language/removal.ts";
import { tokenize } from "../language/words.ts";
import { getVocabulary } from "../matching/vocabulary.ts";
import { listAbilities } from "./abilities.ts";
import { countRefusals, suggestPhrases } from "./clarify.ts";

const selfDescription = "I am an offline model that follows rules, not an AI";

/** Answers greetings, thanks, goodbyes, and questions about the model itself. Undefined for anything else. */
export function answerSmallTalk(text: string, tools: readonly ToolSpec[]): string | undefined {
  const plain = text
    .trim()
    .toLowerCase()
    .replace(/[!.?,\s]+$/u, "");
  if (/^(?:hi|hello|hey|good (?:morning|afternoon|evening)|greetings)(?: there| you| again)?$/u.test(plain))
    return `Hello. ${selfDescription}. ${summarizeTools(tools)}`;
  if (/^(?:(?:many )?thanks|thank you|thx|cheers|great|perfect|nice|cool)(?:\b.{0,20})?$/u.test(plain))
    return "You are welcome.";
  if (/^(?:bye|goodbye|see you)(?:\b.{0,12})?$/u.test(plain)) return "Goodbye.";
  const isAnswered = /^(?:ok|okay|all ?right|fine|never ?mind|forget it|stop|no|nope)$/u.test(plain);
  // "Don't send it" leaves nothing to do.
  if (isAnswered || (plain !== "" && extractRequest(plain) === "")) return "All right.";
  const asked = stripGreeting(plain);
  if (/^how are you\b/u.test(asked))
    return `${selfDescription}, so I am always the same. ${summarizeTools(tools)}`;
  const isAboutMe =
    /^(?:help|who are you|what are you|are you (?:an? )?(?:real )?(?:ai|robot|bot|human|person)|what (?:else )?can (?:you|i|we) (?:do|help|ask|say|try)|how (?:can|do) (?:you help|i (?:use|start|begin))|what do you do|what (?:are you|is this) (?:good )?for|how does this work)\b/u;
  return isAboutMe.test(asked) ? `${selfDescription}. ${describeTools(tools)}` : undefined;
}

const noTools = "I have no tools to work with now.";

const maxListedTools = 16;

/** Lists what the tools do, with phrases to try. */
function describeTools(tools: readonly ToolSpec[]): string {
  const abilities = listAbilities(tools);
  if (abilities.length === 0) return noTools;
  const lines = abilities.slice(0, maxListedTools).map((ability) => `- ${ability}`);
  const more = abilities.length > maxListedTools ? ["- and more"] : [];
  return [`I can do this here:\n${[...lines, ...more].join("\n")}`, suggestPhrases(tools)].join("\n").trim();
}

const actionPattern =
  /^(?:please\s+|can you\s+|could you\s+)*(?<verb>delete|remove|erase|send|mail|call|book|buy|order|pay|cancel|run|execute|install|start|stop|translate|upload|download|post|publish|move|copy|sing|compose|draft|draw|play|guess|tell me (?:a|an|another) (?:joke|story|poem|riddle|secret))\b/iu;

/** True if the utterance asks for an action that no tool supports. */
export function isUnsupportedAction(text: string, tools: readonly ToolSpec[]): boolean {
  const verb = actionPattern.exec(text.trim())?.groups?.verb?.toLowerCase();
  if (verb === undefined || tools.length === 0) return false;
  const { tools: known, findSimilar } = getVocabulary(tools);
  const meant = [...findSimilar(verb.split(" ").at(-1) ?? verb).keys()];
  return !known.some(({ nameStems, topicStems, valueStems }) =>
    meant.some((stem) => nameStems.has(stem) || topicStems.has(stem) || valueStems.has(stem)),
  );
}

const refusalOpening = "I cannot help with that";

/** The refusal when no tool matches. Repeated refusals suggest different phrases. */
export function formatRefusal(request: Pick<ModelRequest, "history" | "tools">): string {
  const { tools } = request;
  if (isForeign(getLastUtterance(request.history).text))
    return `I understand English only. ${suggestPhrases(tools)}`.trim();
  const isRemovalRequest = isRemoval(tokenize(getLastUtterance(request.history).text));
  const from = countRefusals(request, refusalOpening);
  const nothing = isRemovalRequest ? " Nothing was changed." : "";
  const fitting = isRemovalRequest ? suggestPhrases(tools, { isRemoval: isRemovalRequest }) : "";
  const instead = fitting || suggestPhrases(tools, { from });
  if (from > 0 && instead !== "") return `${refusalOpening}: I only follow rules.${nothing} ${instead}`;
  const [ability] = listAbilities(tools);
  const offer = ability === undefined ? noTools : `I can ${shortenAbility(ability)}.`;
  const rest = fitting === "" ? [offer, instead] : [fitting];
  return `${refusalOpening}: ${selfDescription}.${nothing} ${rest.join(" ")}`.trim();
}

const shortenAbility = (ability: string): string =>
  ability.length > 60 ? (ability.split(/[,;:(]\s*/u)[0] ?? "").trim() : ability;

const maxNamedTools = 6;

/** Describes the first tools in one sentence. */
function summarizeTools(tools: readonly ToolSpec[]): string {
  const abilities = listAbilities(tools).map((ability) => ability.split(/[,;:(]\s*/u)[0]?.trim() ?? "");
  if (abilities.length === 0) return noTools;
  const more = abilities.length > maxNamedTools ? '; and more: ask "what can you do?"' : "";
  return `I can ${abilities.slice(0, maxNamedTools).join("; ")}${more}.`;
}
