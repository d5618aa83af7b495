import { isRecord } from "../../base/json.ts";
import type { HostedToolSpec } from "../../kernel/hosted-tool.ts";
import type { Chunk } from "../../kernel/model.ts";
import { filterRecords } from "../wire.ts";

type Fields = { readonly [field: string]: unknown };

/** Search models search by themselves; their only options are fields of the request. */
export function buildSearchOptions(hosted: readonly HostedToolSpec[]): Fields {
  const tool = hosted.find(({ kind }) => kind === "webSearch");
  if (tool?.kind !== "webSearch") return {};
  const { userLocation, extra } = tool.options;
  const location = userLocation && { user_location: { type: "approximate", approximate: userLocation } };
  return { web_search_options: { ...location, ...extra } };
}

/** Returns the sources of an answer, from OpenAI's search models and from OpenRouter. */
export function toChatCitations(annotations: unknown): readonly Chunk[] {
  return filterRecords(annotations).flatMap(({ url_citation: citation }): Chunk[] => {
    const { url, title } = isRecord(citation) ? citation : {};
    if (typeof url !== "string") return [];
    return [
      { type: "citation", source: { id: url, title: typeof title === "string" && title ? title : url, url } },
    ];
  });
}
