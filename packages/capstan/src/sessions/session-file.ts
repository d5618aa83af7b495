// A session as a file: JSON with sorted keys, one fact per line, so that the same session is the same text.
//   { "format": "capstan-session", "version": 1, "id", "title"?, "facts": [ … ],
//     "blobs": { handle: { "mediaType", "text" } or { "mediaType", "base64" } } }
// Facts stand as they are in the store. `title` is there when a person gave one.
import { AgentError } from "../errors.ts";
import type { Fact } from "../event.ts";
import { type Json, toCanonicalJson } from "../json.ts";
import type { Blob, Store } from "../store.ts";

/** Tells such a file from all others. */
export const fileFormat = "capstan-session";
/** Grows when a program that knows only the one before would misread a file. */
export const fileVersion = 1;

/** A blob as it stands in a file. */
export type FileBlob =
  | { readonly mediaType: string; readonly text: string }
  | { readonly mediaType: string; readonly base64: string };

/** What a file holds. */
export type SessionFile = {
  readonly id: string;
  readonly title?: string;
  readonly facts: readonly Fact[];
  readonly blobs: { readonly [handle: string]: FileBlob };
};

/** A session and all it needs as the text of a file. */
export async function serializeSession(
  store: Store,
  { id, title, facts }: Omit<SessionFile, "blobs">,
): Promise<string> {
  const blobs = Object.entries(await loadBlobs(store, id, facts)).map(([handle, blob]) =>
    formatMember(handle, blob),
  );
  return [
    "{",
    `${formatMember("format", fileFormat)},`,
    `${formatMember("version", fileVersion)},`,
    `${formatMember("id", id)},`,
    ...(title ? [`${formatMember("title", title)},`] : []),
    `"facts":[\n${facts.map((fact) => toCanonicalJson(toPlainJson(fact))).join(",\n")}\n],`,
    `"blobs":{${blobs.length > 0 ? `\n${blobs.join(",\n")}\n` : ""}}`,
    "}\n",
  ].join("\n");
}

function formatMember(key: string, value: Json): string {
  return `${JSON.stringify(key)}:${toCanonicalJson(value)}`;
}

/** Without what JSON leaves out. */
function toPlainJson(fact: Fact): Json {
  return JSON.parse(JSON.stringify(fact));
}

async function loadBlobs(
  store: Store,
  id: string,
  facts: readonly Fact[],
): Promise<{ [handle: string]: FileBlob }> {
  const blobs: [string, FileBlob][] = [];
  const handles = facts.flatMap((fact) => (fact.type === "tool_call_result" ? (fact.handle ?? []) : []));
  for (const handle of new Set(handles)) {
    const blob = await store.getBlob(id, handle);
    if (blob) blobs.push([handle, toFileBlob(blob)]);
  }
  return Object.fromEntries(blobs);
}

function toFileBlob({ mediaType, data }: Blob): FileBlob {
  return typeof data === "string" ? { mediaType, text: data } : { mediaType, base64: toBase64(data) };
}

const chunkSize = 0x8000;

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let from = 0; from < bytes.length; from += chunkSize)
    binary += String.fromCharCode(...bytes.subarray(from, from + chunkSize));
  return btoa(binary);
}

/** What a blob of a file holds. */
export function decodeBlob(blob: FileBlob, handle: string): string | Uint8Array {
  if ("text" in blob) return blob.text;
  try {
    return Uint8Array.from(atob(blob.base64), (character) => character.charCodeAt(0));
  } catch {
    throw new AgentError(
      "invalid_input",
      `The session cannot be imported: the blob "${handle}" is not base64.`,
    );
  }
}
