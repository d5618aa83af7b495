import { isRecord, type Json } from "../../base/json.ts";
import type { CitedSource, HostedKind, HostedToolSpec } from "../../kernel/hosted-tool.ts";
import type { Chunk } from "../../kernel/model.ts";
import { filterRecords, toList } from "../wire.ts";

type Fields = Record<string, unknown>;

/** Converts a hosted tool to the API's definition. */
export function toHostedDefinition(tool: HostedToolSpec): Fields {
  const { extra } = tool.options;
  switch (tool.kind) {
    case "webSearch":
      return { googleSearch: { ...extra } };
    case "webFetch":
      return { urlContext: { ...extra } };
    case "codeExecution":
      return { codeExecution: { ...extra } };
    case "fileSearch": {
      const { stores, maxResults } = tool.options;
      const limit = maxResults !== undefined && { topK: maxResults };
      return { fileSearch: { fileSearchStoreNames: stores, ...limit, ...extra } };
    }
    case "imageGeneration":
    case "mcp":
    case "computer":
    case "toolSearch":
      return {}; // not available: see hosted/support.ts
  }
}

const kinds: ReadonlyMap<unknown, HostedKind> = new Map<unknown, HostedKind>([
  ["GOOGLE_SEARCH_WEB", "webSearch"],
  ["URL_CONTEXT", "webFetch"],
  ["FILE_SEARCH", "fileSearch"],
]);

/** Returns the chunk of a part that is a call of a hosted tool, or its result. Calls of code have no id. */
export function readHostedPart(part: Fields, codeId: string): readonly Chunk[] {
  const { executableCode, codeExecutionResult, toolCall, toolResponse } = part;
  if (isRecord(executableCode)) {
    const input = { code: String(executableCode.code ?? "") };
    return [{ type: "hosted", call: { id: codeId, kind: "codeExecution", input } }];
  }
  if (isRecord(codeExecutionResult)) {
    const { outcome, output = "" } = codeExecutionResult;
    const result = { isError: outcome !== "OUTCOME_OK", text: String(output) };
    return [{ type: "hosted", call: { id: codeId, kind: "codeExecution", outcome: result } }];
  }
  const message = isRecord(toolCall) ? toolCall : isRecord(toolResponse) ? toolResponse : {};
  const kind = kinds.get(message.toolType);
  if (!kind) return [];
  const id = typeof message.id === "string" ? { id: message.id } : {};
  if (isRecord(toolCall))
    return [{ type: "hosted", call: { ...id, kind, input: (toolCall.args ?? {}) as Json } }];
  const text = JSON.stringify(message.response ?? {});
  return [{ type: "hosted", call: { ...id, kind, outcome: { isError: false, text } } }];
}

/** What an answer says about searches and pages. `hasCalls` is set if it reports the calls themselves too. */
export function readGrounding(candidate: Fields | undefined, hasCalls: boolean): readonly Chunk[] {
  const grounding = isRecord(candidate?.groundingMetadata) ? candidate.groundingMetadata : {};
  const pages = isRecord(candidate?.urlContextMetadata)
    ? candidate.urlContextMetadata.urlMetadata
    : undefined;
  const found = filterRecords(grounding.groundingChunks).map(toGroundingSource);
  const calls = hasCalls ? [] : [...readSearches(grounding, found), ...readPages(filterRecords(pages))];
  return [...calls, ...listCited(grounding, found).map((source): Chunk => ({ type: "citation", source }))];
}

function readSearches(grounding: Fields, found: readonly (CitedSource | undefined)[]): readonly Chunk[] {
  const { webSearchQueries, retrievalQueries } = grounding;
  const hasFiles = filterRecords(grounding.groundingChunks).some(({ retrievedContext }) => retrievedContext);
  const kind = toList(webSearchQueries).length > 0 ? "webSearch" : hasFiles ? "fileSearch" : undefined;
  if (!kind) return [];
  const queries = toList(kind === "webSearch" ? webSearchQueries : retrievalQueries);
  const sources = found.filter((source) => source !== undefined);
  const text = sources.map(({ title, url = "" }) => `${title} ${url}`.trim()).join("\n");
  const outcome = {
    ...{ isError: false, text },
    ...(kind === "webSearch" && { searches: queries.length }),
    ...(sources.length > 0 && { data: { sources } as unknown as Json }),
  };
  return [{ type: "hosted", call: { id: kind, kind, input: { queries } as Json, outcome } }];
}

function readPages(pages: readonly Fields[]): readonly Chunk[] {
  if (pages.length === 0) return [];
  const urls = pages.map(({ retrievedUrl }) => String(retrievedUrl ?? ""));
  const isError = pages.every(({ urlRetrievalStatus: status }) => status !== "URL_RETRIEVAL_STATUS_SUCCESS");
  const text = pages.map(({ urlRetrievalStatus: status }, index) => `${urls[index]} ${status}`).join("\n");
  const outcome = { isError, text };
  return [{ type: "hosted", call: { id: "webFetch", kind: "webFetch", input: { urls }, outcome } }];
}

function toGroundingSource({ web, retrievedContext }: Fields): CitedSource | undefined {
  const source = isRecord(web) ? web : isRecord(retrievedContext) ? retrievedContext : {};
  const { uri, title } = source;
  const id = typeof uri === "string" ? uri : title;
  if (typeof id !== "string") return undefined;
  const isLink = /^https?:/.test(id);
  return { id, title: typeof title === "string" ? title : id, ...(isLink && { url: id }) };
}

/** Returns the sources that the text is based on; all of them if the answer does not say which. */
function listCited(grounding: Fields, found: readonly (CitedSource | undefined)[]): readonly CitedSource[] {
  const supports = filterRecords(grounding.groundingSupports);
  const indexes = supports.flatMap(({ groundingChunkIndices }) => toList(groundingChunkIndices));
  const cited = supports.length === 0 ? found : indexes.map((index) => found[Number(index)]);
  return cited.filter((source) => source !== undefined);
}
