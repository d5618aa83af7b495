import type { StoredAgentsOptions } from "capstan/agents";
import { allSources } from "./library/find-documents.ts";
import type { Library } from "./library/library.ts";
import { fictionalMailbox, type Mailbox } from "./mailbox.ts";
import { getDocument } from "./tools/get-document.ts";
import { searchEmail } from "./tools/search-email.ts";
import { searchKnowledgeBase } from "./tools/search-knowledge-base.ts";
import { searchPeople } from "./tools/search-people.ts";

/** The tools that user-defined agents can use, and the sources they can be restricted to. */
export function getStoredAgentOptions(
  library: Library,
  mailbox: Mailbox = fictionalMailbox,
): Required<Pick<StoredAgentsOptions, "tools" | "sources">> {
  return {
    sources: allSources,
    tools: {
      search_knowledge_base: ({ sources }) => searchKnowledgeBase(library, omitEmpty(sources)),
      get_document: ({ sources }) => getDocument(library, omitEmpty(sources)),
      search_email: searchEmail(mailbox),
      search_people: searchPeople(library),
    },
  };
}

/** An agent without sources can use all of them. */
const omitEmpty = (sources: readonly string[] | undefined): readonly string[] | undefined =>
  sources?.length ? sources : undefined;
