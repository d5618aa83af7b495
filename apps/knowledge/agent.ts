import { planTool } from "@capstan/tools";
import { type Agent, agentTool, type Model } from "capstan";
import { defaultModel } from "capstan/models";
import type { Specialist } from "./instructions.ts";
import { findEmbeddingModel } from "./library/find-embedding-model.ts";
import { resolveLocations } from "./library/find-files.ts";
import { createLibrary, type Library, type LibraryOptions } from "./library/library.ts";
import { fictionalMailbox, type Mailbox } from "./mailbox.ts";
import { createSearcherFactory } from "./searcher.ts";
import { getDocument } from "./tools/get-document.ts";
import { searchEmail } from "./tools/search-email.ts";
import { searchKnowledgeBase } from "./tools/search-knowledge-base.ts";
import { searchPeople } from "./tools/search-people.ts";

export type KnowledgeOptions = LibraryOptions & {
  readonly model?: Model | string;
  /** Summarizes each turn; a small model is enough. Defaults to the main model. */
  readonly summaryModel?: Model | string;
  /** Defaults to a fictional mailbox. */
  readonly mailbox?: Mailbox;
  /** Adds the tool `plan`: a list of sub-tasks that the user sees. */
  readonly plan?: boolean;
  /** An existing library to share; overrides `locations` and `root`. */
  readonly library?: Library;
};

export const about = {
  title: "Knowledge search",
  picture: "sources",
  description:
    "Searches the documentation on this machine and answers with sources. The mailbox is fictional.",
  suggestions: [
    "How do I validate data with zod?",
    "Summarize recent emails about budget",
    "Compare how zod and valibot parse data",
    "Who maintains hono?",
  ],
} as const;

const research: Specialist = {
  name: "research-agent",
  when: "Compares packages, or answers a question that takes several searches.",
};
const people: Specialist = {
  name: "people-agent",
  when: "Answers questions about several people, or about everyone behind a package.",
};

/** Returns the search assistant and the specialists it can hand off to. */
export async function knowledge(
  options: KnowledgeOptions = {},
): Promise<readonly [main: Agent, research: Agent, people: Agent]> {
  const { model = await defaultModel(), summaryModel = model, mailbox = fictionalMailbox } = options;
  await resolveLocations(options.locations ?? []); // fail now rather than in the first search
  const library = options.library ?? createLibrary({ embeddings: findEmbeddingModel(), ...options });
  const createSearcher = createSearcherFactory({ model, summaryModel, library });
  const readingTools = [searchKnowledgeBase(library), getDocument(library)];
  const researchAgent = createSearcher({
    name: research.name,
    identity:
      "You are a researcher. Search until every part of the question is covered, then report what you found.",
    constraints: "Search for each item by name. Say what you could not find.",
    tools: readingTools,
  });
  const peopleAgent = createSearcher({
    name: people.name,
    identity: "You find out who wrote and who maintains packages.",
    constraints: "State only what the package metadata says about people.",
    tools: [searchPeople(library), ...readingTools],
  });
  const main = createSearcher({
    name: "knowledge",
    identity: "You are a search assistant for the documentation on this machine.",
    tools: [
      ...readingTools,
      searchEmail(mailbox),
      searchPeople(library),
      agentTool(researchAgent, {
        name: "ask_agent",
        maxTurns: 5,
        description: "Asks a research agent a separate question. It does not see this conversation.",
      }),
      ...(options.plan ? [planTool()] : []),
    ],
    handoffs: [researchAgent, peopleAgent],
    specialists: [research, people],
    isPlanning: options.plan ?? false,
  });
  return [main, researchAgent, peopleAgent];
}
