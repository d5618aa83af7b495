// Session file format: JSON with sorted keys and one fact per line, so equal sessions give equal text.
//   { "format": "capstan-session", "version": 1, "factVersion": 3, "id", "title"?, "facts": [ … ],
//     "blobs": { handle: { "mediaType", "text" } or { "mediaType", "base64" } } }
// Facts are stored unchanged; without `factVersion`, they are of version 1. `title` is present if the session was renamed.
import { AgentError } from "../base/errors.ts";
import { fromBase64, type Json, toBase64, toCanonicalJson } from "../base/json.ts";
import { type Fact, factVersion } from "../kernel/event.ts";
import type { Blob } from "../kernel/records.ts";
import { listHandles, readFacts } from "../runtime/load-facts.ts";
import type { Store } from "../runtime/store.ts";

/** Identifies the file format. */
export const fileFormat = "capstan-session";
/** Increased for changes that older readers would misinterpret. */
export const fileVersion = 1;

export type FileBlob =
  | { readonly mediaType: string; readonly text: string }
  | { readonly mediaType: string; readonly base64: string };

/** Content of a session file. */
export type SessionFile = {
  readonly id: string;
  readonly title?: string;
  readonly facts: readonly Fact[];
  readonly blobs: { readonly [handle: string]: FileBlob };
};

/** Serializes a session and its blobs, in parts: one for each page of facts and for each blob. */
export async function* serializeSession(
  store: Store,
  { id, title }: Pick<SessionFile, "id" | "title">,
): AsyncGenerator<string, void, undefined> {
  const members = [
    formatMember("format", fileFormat),
    formatMember("version", fileVersion),
    formatMember("factVersion", factVersion),
    formatMember("id", id),
    ...(title ? [formatMember("title", title)] : []),
  ];
  yield `{\n${members.join(",\n")},\n"facts":[`;
  const handles = new Set<string>();
  let separator = "\n";
  for await (const page of readFacts(store, id)) {
    yield separator + page.map((fact) => toCanonicalJson(toPlainJson(fact))).join(",\n");
    separator = ",\n";
    for (const fact of page) for (const handle of listHandles(fact)) handles.add(handle);
  }
  yield `\n],\n"blobs":{`;
  separator = "\n";
  for (const handle of handles) {
    const blob = await store.getBlob(id, handle);
    if (!blob) continue;
    yield separator + formatMember(handle, toFileBlob(blob));
    separator = ",\n";
  }
  yield separator === "\n" ? "}\n}\n" : "\n}\n}\n";
}

function formatMember(key: string, value: Json): string {
  return `${JSON.stringify(key)}:${toCanonicalJson(value)}`;
}

/** Drops undefined fields. */
function toPlainJson(fact: Fact): Json {
  return JSON.parse(JSON.stringify(fact));
}

function toFileBlob({ mediaType, data }: Blob): FileBlob {
  return typeof data === "string" ? { mediaType, text: data } : { mediaType, base64: toBase64(data) };
}

/** Decodes a blob. Throws `invalid_input` for invalid base64. */
export function decodeBlob(blob: FileBlob, handle: string): string | Uint8Array {
  if ("text" in blob) return blob.text;
  try {
    return fromBase64(blob.base64);
  } catch {
    throw new AgentError("invalid_input", `Cannot import the session: the blob "${handle}" is not base64.`);
  }
}
