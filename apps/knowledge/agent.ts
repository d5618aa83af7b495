import { planTool } from "@capstan/tools";
import { type Agent, agentTool, defineAgent, type Model, type PolicyOverrides, type Tool } from "capstan";
import { defaultModel } from "capstan/models";
import { type Specialist, searcherInstructions } from "./instructions.ts";
import { checkFolder, type Library, type LibraryOptions, library } from "./library/library.ts";
import { fictionalMailbox, type Mailbox } from "./mailbox.ts";
import { fallBack } from "./tools/fall-back.ts";
import { getDocument } from "./tools/get-document.ts";
import { searchEmail } from "./tools/search-email.ts";
import { searchKnowledgeBase } from "./tools/search-knowledge-base.ts";
import { searchPeople } from "./tools/search-people.ts";

export type KnowledgeOptions = LibraryOptions & {
  readonly model?: Model | string;
  /** Says what was done in each turn; a small one will do. By default the main model. */
  readonly summaryModel?: Model | string;
  /** By default one that is made up. */
  readonly mailbox?: Mailbox;
  /** Whether it keeps a list of sub-tasks that people see. */
  readonly plan?: boolean;
  /** In place of one that is made from the other options: to share an index that is open already. */
  readonly library?: Library;
};

/** How people are told about it. */
export const about = {
  title: "Knowledge search",
  description:
    "Searches the documentation on this machine and answers with its sources. The mailbox is fictional.",
  suggestions: [
    "How do I validate data with zod?",
    "Summarize recent emails about budget",
    "Compare how zod and valibot parse data",
    "Who maintains hono?",
  ],
} as const;

/** Searches first, keeps its tools to the end, and at the limit falls back to one wider search. */
export const policy: PolicyOverrides = {
  maxTurns: 10,
  wrapUpAt: 0,
  finalTurn: "keep-tools",
  onLimit: ["fallback-tool", "best-effort"],
  toolExecution: "parallel",
  retry: { maxAttempts: 1 },
  onAllToolsFailed: "continue",
  maxToolResultSize: 16_000,
  memory: "session",
  requireToolFirst: true,
  summaries: true,
};

const research: Specialist = {
  name: "research-agent",
  when: "Compares packages, or works through a question that takes several searches.",
};
const people: Specialist = {
  name: "people-agent",
  when: "For questions about several people, or about everybody behind something.",
};

/** The search assistant, and after it those that it hands over to. */
export async function knowledge(
  options: KnowledgeOptions = {},
): Promise<readonly [main: Agent, research: Agent, people: Agent]> {
  const { model = await defaultModel(), summaryModel = model, mailbox = fictionalMailbox } = options;
  if (options.folder !== undefined) await checkFolder(options.folder);
  const shelf = options.library ?? library(options);
  const searcher = searcherOf({ model, summaryModel, shelf });
  const reading = [searchKnowledgeBase(shelf), getDocument(shelf)];
  const researcher = searcher({
    name: research.name,
    identity:
      "You are a researcher. You search until every part of the question is covered, and report what you found.",
    constraints: "Search for each thing by its own name. Say what you could not find.",
    tools: reading,
  });
  const matchmaker = searcher({
    name: people.name,
    identity: "You find out who wrote what and who looks after it.",
    constraints: "Say only what the metadata of packages says about people.",
    tools: [searchPeople(shelf), ...reading],
  });
  const main = searcher({
    name: "knowledge",
    identity: "You are a search assistant for the documentation on this machine.",
    tools: [
      ...reading,
      searchEmail(mailbox),
      searchPeople(shelf),
      agentTool(researcher, {
        name: "ask_agent",
        maxTurns: 5,
        description:
          "Asks a research agent a question of its own, beside this conversation, of which it sees nothing.",
      }),
      ...(options.plan ? [planTool()] : []),
    ],
    handoffs: [researcher, matchmaker],
    specialists: [research, people],
    isPlanning: options.plan ?? false,
  });
  return [main, researcher, matchmaker];
}

type Ground = {
  readonly model: Model | string;
  readonly summaryModel: Model | string;
  readonly shelf: Library;
};

type Searcher = Parameters<typeof searcherInstructions>[0] & {
  readonly name: string;
  readonly tools: readonly Tool[];
  readonly handoffs?: readonly Agent[];
};

/** What all three have in common. */
function searcherOf({ model, summaryModel, shelf }: Ground): (searcher: Searcher) => Agent {
  return ({ name, tools, handoffs = [], ...prompt }) =>
    defineAgent({
      name,
      model,
      models: { summary: summaryModel },
      instructions: searcherInstructions(prompt),
      tools,
      handoffs,
      fallbackTool: fallBack(shelf),
      policy,
    });
}
