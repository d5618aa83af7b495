import type { StoredAgentsOptions } from "capstan/agents";
import { allSources } from "./library/find-documents.ts";
import type { Library } from "./library/library.ts";
import { fictionalMailbox, type Mailbox } from "./mailbox.ts";
import { getDocument } from "./tools/get-document.ts";
import { searchEmail } from "./tools/search-email.ts";
import { searchKnowledgeBase } from "./tools/search-knowledge-base.ts";
import { searchPeople } from "./tools/search-people.ts";

/** What agents that people make may use: the tools by name, and the sources that an agent can be kept to. */
export function offeredToAgents(
  library: Library,
  mailbox: Mailbox = fictionalMailbox,
): Required<Pick<StoredAgentsOptions, "tools" | "sources">> {
  return {
    sources: allSources,
    tools: {
      search_knowledge_base: ({ sources }) => searchKnowledgeBase(library, kept(sources)),
      get_document: ({ sources }) => getDocument(library, kept(sources)),
      search_email: searchEmail(mailbox),
      search_people: searchPeople(library),
    },
  };
}

/** An agent that names no sources may use them all. */
const kept = (sources: readonly string[] | undefined): readonly string[] | undefined =>
  sources?.length ? sources : undefined;
