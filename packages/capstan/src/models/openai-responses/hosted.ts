import { isRecord, type Json } from "../../base/json.ts";
import type { CitedSource, HostedKind, HostedToolSpec } from "../../kernel/hosted-tool.ts";
import type { Chunk } from "../../kernel/model.ts";
import { filterRecords } from "../wire.ts";

type Fields = { readonly [field: string]: unknown };

/** Converts a hosted tool to the API's definition. */
export function toHostedDefinition(tool: HostedToolSpec, model: string): Fields {
  return { ...buildDefinition(tool, model), ...tool.options.extra };
}

function buildDefinition(tool: HostedToolSpec, model: string): Fields {
  switch (tool.kind) {
    case "webSearch": {
      const { allowedDomains, userLocation } = tool.options;
      return {
        type: "web_search",
        ...(allowedDomains && { filters: { allowed_domains: allowedDomains } }),
        ...(userLocation && { user_location: { type: "approximate", ...userLocation } }),
      };
    }
    case "codeExecution":
      // The API continues in the container of the calls in the history while it lives.
      return { type: "code_interpreter", container: { type: "auto" } };
    case "fileSearch": {
      const { stores, maxResults } = tool.options;
      return {
        ...{ type: "file_search", vector_store_ids: stores },
        ...(maxResults !== undefined && { max_num_results: maxResults }),
      };
    }
    case "imageGeneration": {
      const { size, quality, format } = tool.options;
      return {
        type: "image_generation",
        ...(size !== undefined && { size }),
        ...(quality !== undefined && { quality }),
        ...(format !== undefined && { output_format: format }),
      };
    }
    case "mcp": {
      const { label, url, allowedTools, approval = "always", token } = tool.options;
      return {
        ...{ type: "mcp", server_label: label, server_url: url, require_approval: approval },
        ...(allowedTools && { allowed_tools: allowedTools }),
        ...(token !== undefined && { authorization: token }),
      };
    }
    case "computer": {
      if (!model.includes("computer-use-preview")) return { type: "computer" };
      const { displayWidth, displayHeight, environment = "browser" } = tool.options;
      const size = { display_width: displayWidth, display_height: displayHeight };
      return { type: "computer_use_preview", ...size, environment };
    }
    case "toolSearch":
      return { type: "tool_search" };
    case "webFetch":
      return {}; // not available: see hosted/support.ts
  }
}

/** Parts of the results that the API returns only on request. */
const includes: { readonly [Kind in HostedKind]?: string } = {
  webSearch: "web_search_call.action.sources",
  codeExecution: "code_interpreter_call.outputs",
  fileSearch: "file_search_call.results",
};

export function listHostedIncludes(hosted: readonly HostedToolSpec[]): readonly string[] {
  return hosted.flatMap(({ kind }) => includes[kind] ?? []);
}

/** Forces the call of a hosted tool. */
export function toHostedChoice(tool: HostedToolSpec, model: string): Fields {
  const { type, server_label: label } = toHostedDefinition(tool, model);
  const named = { type, ...(label !== undefined && { server_label: label }) };
  return { type: "allowed_tools", mode: "required", tools: [named] };
}

const kinds: ReadonlyMap<unknown, HostedKind> = new Map<unknown, HostedKind>([
  ["web_search_call", "webSearch"],
  ["code_interpreter_call", "codeExecution"],
  ["file_search_call", "fileSearch"],
  ["image_generation_call", "imageGeneration"],
  ["mcp_call", "mcp"],
  ["tool_search_call", "toolSearch"],
]);

/** Returns the chunk of an item that is a call of a hosted tool: of its start, or with its outcome. */
export function toHostedChunks(item: Fields, isDone: boolean): readonly Chunk[] {
  const kind = kinds.get(item.type);
  if (!kind) return [];
  const { id, name } = item;
  const isError = item.status === "failed" || isRecord(item.error) || typeof item.error === "string";
  const call = {
    kind,
    ...(typeof id === "string" && { id }),
    ...(kind === "mcp" && typeof name === "string" && { name }),
  };
  if (!isDone) return [{ type: "hosted", call }];
  const { input, text, data, searches } = readItem(kind, item);
  const outcome = {
    ...{ isError, text },
    ...(data !== undefined && { data: data as Json }),
    ...(searches !== undefined && !isError && { searches }),
  };
  return [{ type: "hosted", call: { ...call, input: input as Json, outcome } }];
}

type ReadItem = {
  readonly input: unknown;
  readonly text: string;
  readonly data?: unknown;
  readonly searches?: number;
};

function readItem(kind: HostedKind, item: Fields): ReadItem {
  switch (kind) {
    case "webSearch": {
      const { sources, ...input } = isRecord(item.action) ? item.action : {};
      const urls = filterRecords(sources).flatMap(({ url }) => (typeof url === "string" ? url : []));
      // Opening a page and searching in it is part of a search.
      const searches = input.type === "search" ? 1 : 0;
      return { input, text: urls.join("\n"), searches, ...(urls.length > 0 && { data: { sources: urls } }) };
    }
    case "codeExecution": {
      const logs = filterRecords(item.outputs).map(({ logs: text, type }) => String(text ?? `[${type}]`));
      return { input: { code: item.code ?? "" }, text: logs.join("\n") };
    }
    case "fileSearch": {
      const found = filterRecords(item.results).map(
        ({ filename, text }) => `${filename ?? ""}: ${text ?? ""}`,
      );
      return { input: { queries: item.queries ?? [] }, text: found.join("\n") };
    }
    case "mcp": {
      const text = item.error ? formatMcpError(item.error) : String(item.output ?? "");
      return { input: tryParse(item.arguments), text };
    }
    case "toolSearch": {
      const { paths } = isRecord(item.arguments) ? item.arguments : {};
      return { input: item.arguments ?? {}, text: Array.isArray(paths) ? paths.join(", ") : "" };
    }
    default:
      return { input: omitNull({ prompt: item.revised_prompt }), text: "Generated an image." };
  }
}

function formatMcpError(error: unknown): string {
  if (!isRecord(error)) return String(error);
  return typeof error.message === "string" ? error.message : JSON.stringify(error.content ?? error);
}

function omitNull(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  );
}

function tryParse(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return {}; // the provider made the call with whatever it was
  }
}

/** Returns the sources that a text cites. */
export function toCitationChunks(parts: readonly Fields[]): readonly Chunk[] {
  return parts
    .flatMap(({ annotations }) => filterRecords(annotations))
    .flatMap(toSource)
    .map((source) => ({ type: "citation", source }));
}

function toSource({ type, url, title, file_id: fileId, filename }: Fields): readonly CitedSource[] {
  if (type === "url_citation" && typeof url === "string")
    return [{ id: url, title: typeof title === "string" && title ? title : url, url }];
  if (typeof fileId === "string")
    return [{ id: fileId, title: typeof filename === "string" ? filename : fileId }];
  return [];
}
