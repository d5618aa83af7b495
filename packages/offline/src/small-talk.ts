import type { ModelRequest, ToolSpec } from "capstan";
import { wishedIn, withoutGreeting } from "./clauses.ts";
import { refusalsIn, sayInstead } from "./say-instead.ts";
import { spokenName } from "./spoken-name.ts";
import { takesAway } from "./taking-away.ts";
import { lastSaid } from "./understand.ts";
import { vocabularyOf } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

const whoAmI = "I am an offline model that follows rules, not an AI";

/** Greetings, thanks, goodbyes, and the question what it is and can do. */
export function smallTalk(text: string, tools: readonly ToolSpec[]): string | undefined {
  const plain = text
    .trim()
    .toLowerCase()
    .replace(/[!.?,\s]+$/u, "");
  if (/^(?:hi|hello|hey|good (?:morning|afternoon|evening)|greetings)(?: there| you| again)?$/u.test(plain))
    return `Hello. ${whoAmI}. ${someAbilities(tools)}`;
  if (/^(?:(?:many )?thanks|thank you|thx|cheers|great|perfect|nice|cool)(?:\b.{0,20})?$/u.test(plain))
    return "You are welcome.";
  if (/^(?:bye|goodbye|see you)(?:\b.{0,12})?$/u.test(plain)) return "Goodbye.";
  const isAnswered = /^(?:ok|okay|all ?right|fine|never ?mind|forget it|stop|no|nope)$/u.test(plain);
  // "Don't send it": there is nothing to do.
  if (isAnswered || (plain !== "" && wishedIn(plain) === "")) return "All right.";
  const asked = withoutGreeting(plain);
  if (/^how are you\b/u.test(asked)) return `${whoAmI}, so I am always the same. ${someAbilities(tools)}`;
  const isAboutMe =
    /^(?:help|who are you|what are you|are you (?:an? )?(?:real )?(?:ai|robot|bot|human|person)|what (?:else )?can (?:you|i) (?:do|help|ask)|how can you help|what do you do)\b/u;
  return isAboutMe.test(asked) ? `${whoAmI}. ${abilities(tools)}` : undefined;
}

const noTools = "I have no tools to work with now.";
const lowered = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

const mostListed = 16;

/** What the tools do, in the words of their descriptions. */
function abilities(tools: readonly ToolSpec[]): string {
  if (tools.length === 0) return noTools;
  const lines = tools
    .slice(0, mostListed)
    .map(({ name, description }) => `- ${firstSentence(description)} (${name})`);
  const more = tools.length > mostListed ? ["- and more"] : [];
  return `I work with these tools:\n${[...lines, ...more].join("\n")}`;
}

function firstSentence(text: string): string {
  const first = /^.*?[.!?](?=\s|$)/su.exec(text)?.[0] ?? text;
  const plain = first.replace(/[.:\s]+$/u, "").replace(/\s+/gu, " ");
  return plain.length > 140 ? `${plain.slice(0, 139).toWellFormed()}…` : plain;
}

const deeds =
  /^(?:please\s+|can you\s+|could you\s+)*(?<verb>delete|remove|erase|send|mail|call|book|buy|order|pay|cancel|run|execute|install|start|stop|translate|upload|download|post|publish|move|copy)\b/iu;

/** Something is to be done that no tool says it does. */
export function isBeyond(text: string, tools: readonly ToolSpec[]): boolean {
  const verb = deeds.exec(text.trim())?.groups?.verb?.toLowerCase();
  if (verb === undefined || tools.length === 0) return false;
  const { tools: known, like } = vocabularyOf(tools);
  const meant = [...like(verb).keys()];
  return !known.some(({ strong, weak, values }) =>
    meant.some((stem) => strong.has(stem) || weak.has(stem) || values.has(stem)),
  );
}

const opening = "I cannot help with that";

/** Said when no tool is about what was asked. Who hears it again is shown other sentences. */
export function cannot(request: Pick<ModelRequest, "history" | "tools">): string {
  const { tools } = request;
  const isTaking = takesAway(wordsOf(lastSaid(request.history).text));
  const from = refusalsIn(request, opening);
  const nothing = isTaking ? " Nothing was changed." : "";
  const fitting = isTaking ? sayInstead(tools, { isTaking }) : "";
  const instead = fitting || sayInstead(tools, { from });
  if (from > 0 && instead !== "") return `${opening}: I only follow rules.${nothing} ${instead}`;
  const rest = fitting === "" ? [oneAbility(tools), instead] : [fitting];
  return `${opening}: ${whoAmI}.${nothing} ${rest.join(" ")}`.trim();
}

function oneAbility([first]: readonly ToolSpec[]): string {
  if (!first) return noTools;
  const whole = firstSentence(first.description);
  const [clause = ""] = whole.length > 60 ? whole.split(/[,;(]\s*/u) : [whole];
  return `One of my tools: ${lowered(clause.trim())}.`;
}

const mostNamed = 6;

/** The same in one sentence, of the first tools. */
function someAbilities(tools: readonly ToolSpec[]): string {
  if (tools.length === 0) return noTools;
  const said = tools.slice(0, mostNamed).map(({ name, description }) => {
    const [clause = ""] = firstSentence(description).split(/[,;(]\s*/u);
    const words = clause.trim() || spokenName(name, tools);
    return lowered(words);
  });
  const more = tools.length > mostNamed ? '; and more: ask "what can you do?"' : "";
  return `What my tools do: ${said.join("; ")}${more}.`;
}
