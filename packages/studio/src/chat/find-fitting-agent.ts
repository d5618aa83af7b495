import type { AboutAgent, AgentInfo } from "capstan/client";

/** The agent that fits a text best, and the words of the text that say so. */
export type FittingAgent = { readonly agent: string; readonly words: readonly string[] };

/** What an agent is about: stems with their weights. */
type AgentWords = {
  readonly name: string;
  readonly app: string;
  readonly weights: ReadonlyMap<string, number>;
};

/** Agents that compete as one. */
type Group = { readonly name: string; readonly members: readonly AgentWords[] };

const profileWeight = 1;
const exampleWeight = 0.8;
const descriptionWeight = 0.4;
/** One word that no other app uses is enough, unless only the description of a tool has it. */
const minScore = 0.5;
/** How much better than the second the first must be. */
const minLead = 1.2;

/**
 * Returns a function that finds the agent for a text by its words: those of the agent's profile, and those of its tools.
 * Words that several apps share count less. Returns undefined if no app fits clearly. An app and its own data compete
 * with the other apps as one; among them the one that fits best is chosen, and own data if all fit alike.
 */
export function createAgentFinder(
  agents: readonly AboutAgent[],
  details: readonly Pick<AgentInfo, "name" | "tools">[] = [],
): (text: string) => FittingAgent | undefined {
  const known = agents.map((agent) =>
    collectWords(
      agent,
      details.find(({ name }) => name === agent.name),
    ),
  );
  const groups = [...Map.groupBy(known, ({ app }) => app)].map(([name, members]) => ({ name, members }));
  return (text) => {
    const words = new Map(splitWords(text).map((word) => [toWordStem(word), word]));
    const [best, second] = rankGroups(groups, [...words.keys()]);
    const isClear = best && best.score >= minScore && best.score >= minLead * (second?.score ?? 0);
    if (!isClear) return undefined;
    const members = best.group.members.map((member) => ({ name: member.name, members: [member] }));
    // The sort is stable: the newest data comes first where nothing else decides.
    const [agent] = rankGroups(members.toReversed(), [...words.keys()]);
    return {
      agent: agent?.group.name ?? best.group.name,
      words: best.stems.map((stem) => words.get(stem) ?? stem),
    };
  };
}

function rankGroups(groups: readonly Group[], stems: readonly string[]) {
  const getWeight = ({ members }: Group, stem: string) =>
    Math.max(...members.map(({ weights }) => weights.get(stem) ?? 0));
  /** 1 for a word that one group uses, 0 for a word that all use. */
  const getRarity = (stem: string) => {
    const users = groups.filter((group) => getWeight(group, stem) > 0).length;
    return groups.length === 1 ? 1 : 1 - Math.log(Math.max(1, users)) / Math.log(groups.length);
  };
  const rarities = new Map(stems.map((stem) => [stem, getRarity(stem)]));
  return groups
    .map((group) => {
      const scores = stems.map((stem) => ({
        stem,
        score: getWeight(group, stem) * (rarities.get(stem) ?? 0),
      }));
      return {
        group,
        score: scores.reduce((sum, { score }) => sum + score, 0),
        stems: scores.filter(({ score }) => score > 0).map(({ stem }) => stem),
      };
    })
    .sort((left, right) => right.score - left.score);
}

function collectWords(agent: AboutAgent, details: Pick<AgentInfo, "tools"> | undefined): AgentWords {
  const { name, app = name, title = name, description = "", suggestions = [], topics = [] } = agent;
  const weights = new Map<string, number>();
  function add(texts: readonly string[], weight: number): void {
    for (const stem of texts.flatMap(splitWords).map(toWordStem))
      weights.set(stem, Math.max(weight, weights.get(stem) ?? 0));
  }
  add([title, description, ...suggestions, ...topics], profileWeight);
  for (const tool of details?.tools ?? []) {
    const phrases = tool.examples?.map((phrase) => phrase.replace(/\{[^}]*\}/g, " ")) ?? [];
    add([tool.name, ...phrases], exampleWeight);
    add([tool.description], descriptionWeight);
  }
  return { name, app, weights };
}

/** Words that say nothing about the subject. */
const commonWords = new Set(
  (
    "a about again all also am an and any anything are as at be been by can could did do does everything for from get " +
    "give go good had has have hello help her here hi his how i if in into is it its just know last less let like look " +
    "many may me mean more most much my need new no not now of on one ones only or our out over please really right say " +
    "see set should show so some something tell than thank thanks that the their them then there these they thing this " +
    "those to up us use very want was we were what when where which who whose why will with would yes you your"
  ).split(" "),
);

/** Splits text and names such as `findNodes` or `find_nodes` into lower-case words, without common ones. */
function splitWords(text: string): readonly string[] {
  const words = text
    .replace(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, " ")
    .toLowerCase()
    .replace(/['’]\p{L}+/gu, "")
    .match(/[\p{L}\p{N}]+/gu);
  return words?.filter((word) => word.length > 1 && !commonWords.has(word)) ?? [];
}

/** Without accents and endings: "restaurants" and "restaurant", "colored" and "color" are one word. */
function toWordStem(word: string): string {
  const plain = word.normalize("NFD").replace(/\p{M}/gu, "");
  if (plain.length < 4 || /\P{L}/u.test(plain)) return plain;
  return plain
    .replace(/ies$/, "y")
    .replace(/(?<=ss|x|ch|sh|z)es$|(?<=[^su])s$/, "")
    .replace(/(?<=\p{L}{4})(?:ing|ed)$/u, "")
    .replace(/(?<=\p{L}{3})e$/u, "");
}
