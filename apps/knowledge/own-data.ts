// Opens the app on the user's own documents: `capstan app knowledge ~/notes`, or files dropped into the studio.
import type { DataLoader, LoadRequest } from "@capstan/server";
import { type Agent, agentTool, type Model } from "capstan";
import { defaultModel } from "capstan/models";
import { copyResources, type ResourceReader } from "./library/copy-resources.ts";
import { findEmbeddingModel } from "./library/find-embedding-model.ts";
import { createLibrary, type Library, type LibraryOptions } from "./library/library.ts";
import { documentExtensions } from "./library/parse/formats.ts";
import type { SearchIndex } from "./library/search-index.ts";
import { createSearcherFactory } from "./searcher.ts";
import { getDocument } from "./tools/get-document.ts";
import { searchKnowledgeBase } from "./tools/search-knowledge-base.ts";

export type DocumentLoaderOptions = {
  readonly model?: Model | string;
  /** Searches by meaning too. Defaults to the model that the environment names, if any. */
  readonly embeddings?: Model | string | undefined;
  /** Connected MCP servers, whose resources are opened as `mcp://<server>`. */
  readonly mcp?: ResourceReader;
};

const resourceScheme = "mcp:";

export function documentLoader(options: DocumentLoaderOptions = {}): DataLoader {
  const { embeddings = findEmbeddingModel(), mcp } = options;
  return {
    description:
      "documents and folders of them: Markdown, text, HTML, PDF, Word, EPUB, CSV, source code and mail",
    extensions: documentExtensions,
    acceptsFolders: true,
    schemes: mcp ? [resourceScheme] : [],
    async load(request) {
      const { name, title, folder, signal } = request;
      const library = createLibrary({
        ...findLocations(request, mcp),
        indexFolder: folder,
        isWatching: true,
        embeddings,
        signal,
        getFileUrl: (id) => buildFileUrl(name, id),
        onProgress: request.onProgress,
      });
      const index = await library.open();
      const model = options.model ?? (await defaultModel());
      return {
        agents: createAgents({ name, title, model, library }),
        profile: {
          title,
          description: `Searches the documents in ${title} and answers with sources.`,
          suggestions: suggestQuestions(index),
          topics: listTopics(index),
        },
        report() {
          const { documents, passages, skipped } = library.report();
          return { counts: { documents, passages }, skipped };
        },
        close: () => library.close(),
      };
    },
  };
}

function findLocations(
  { locations, folder, signal }: LoadRequest,
  mcp: ResourceReader | undefined,
): Pick<LibraryOptions, "locations" | "findMore"> {
  const isResource = (location: string) => location.startsWith(resourceScheme);
  const servers = locations.filter(isResource).map((location) => new URL(location).host);
  const paths = locations.filter((location) => !isResource(location));
  if (!mcp || servers.length === 0) return { locations: paths };
  return { locations: paths, findMore: () => copyResources(mcp, servers, { folder, signal }) };
}

/** Resources of MCP servers have no file that the user could open. */
function buildFileUrl(name: string, id: string): string | undefined {
  if (id.startsWith(resourceScheme)) return undefined;
  return `/api/data/${encodeURIComponent(name)}/files/${id.split("/").map(encodeURIComponent).join("/")}`;
}

type AgentContext = {
  readonly name: string;
  readonly title: string;
  readonly model: Model | string;
  readonly library: Library;
};

function createAgents({
  name,
  title,
  model,
  library,
}: AgentContext): readonly [main: Agent, research: Agent] {
  const createSearcher = createSearcherFactory({ model, summaryModel: model, library });
  const tools = [searchKnowledgeBase(library), getDocument(library)];
  const research = createSearcher({
    name: `${name}-research`,
    identity:
      "You are a researcher. Search until every part of the question is covered, then report what you found.",
    constraints: "Say what you could not find.",
    tools,
  });
  const main = createSearcher({
    name,
    identity: `You are a search assistant for the user's own documents in "${title}".`,
    tools: [
      ...tools,
      agentTool(research, {
        name: "ask_agent",
        maxTurns: 5,
        description: "Asks a research agent a separate question. It does not see this conversation.",
      }),
    ],
    handoffs: [research],
    specialists: [
      { name: research.name, when: "The question takes several searches, or compares documents." },
    ],
  });
  return [main, research];
}

const maxTopics = 500;

/** What questions about these documents name: their headings and names. */
const listTopics = (index: SearchIndex): readonly string[] =>
  [...index.listHeadings(), ...index.listDocumentIds()].slice(0, maxTopics);

const maxSuggestions = 3;

/** Asks about the first heading of some documents. */
function suggestQuestions(index: SearchIndex): readonly string[] {
  const headings = index
    .listHeadings()
    .filter(
      (heading) => /^\p{L}[\p{L}\p{N} '’-]{3,50}$/u.test(heading) && !/^(?:Page|Row|Lines) \d/.test(heading),
    );
  return [...new Set(headings)]
    .slice(0, maxSuggestions)
    .map((heading) => `What do the documents say about ${heading}?`);
}
