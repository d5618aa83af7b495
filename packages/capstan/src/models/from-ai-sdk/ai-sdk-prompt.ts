import { isRecord, type Json } from "../../base/json.ts";
import {
  type AssistantEntry,
  type AssistantPart,
  type CallPart,
  type GeneratedMedia,
  getCalls,
  type MediaPart,
  type Part,
  type ResultEntry,
  toPlainText,
} from "../../kernel/history.ts";
import type { ModelRequest } from "../../kernel/model.ts";
import { withDistinctCallIds } from "../distinct-call-ids.ts";
import { getOwnData, tagData } from "../wire.ts";
import { describeMedia } from "../wire-media.ts";

export const aiSdkVersions = ["v2", "v3", "v4"] as const;
export type AiSdkVersion = (typeof aiSdkVersions)[number];

/** The specification version and the provider. */
export type Dialect = { readonly version: AiSdkVersion; readonly provider: string };

type Message = { readonly role: string; readonly content: string | object[] };

/** Converts the conversation to an AI SDK prompt. The results of one turn form one message. */
export function toPrompt({ instructions, history }: ModelRequest, dialect: Dialect): readonly object[] {
  const messages: Message[] = instructions ? [{ role: "system", content: instructions }] : [];
  let sentIds = new Map<string, string>();
  const add = (role: string, content: object[]) => {
    const last = messages.at(-1);
    if (role === "tool" && last?.role === role && Array.isArray(last.content)) last.content.push(...content);
    else if (content.length > 0) messages.push({ role, content });
  };
  for (const entry of withDistinctCallIds(history)) {
    switch (entry.type) {
      case "user":
        add("user", toUserParts(entry.content, dialect));
        break;
      case "summary":
        add("user", [{ type: "text", text: `Summary of the conversation so far:\n${entry.text}` }]);
        break;
      case "assistant":
        sentIds = assignCallIds(entry);
        add(
          "assistant",
          entry.parts.flatMap((part) =>
            part.type === "media"
              ? toGeneratedPart(part, entry, dialect)
              : toAssistantParts(part, sentIds, dialect.provider),
          ),
        );
        break;
      case "result":
        add("tool", [toToolResult(entry, sentIds, dialect)]);
    }
  }
  return messages;
}

/** Uses the provider's call ids; a duplicate within a turn gets our id, limited to characters that all providers accept. */
function assignCallIds(entry: AssistantEntry): Map<string, string> {
  const sent = new Map<string, string>();
  const taken = new Set<string>();
  for (const { id, providerId = id } of getCalls(entry)) {
    const wanted = taken.has(providerId) ? id.replace(/[^\w-]/g, "_") : providerId;
    taken.add(wanted);
    sent.set(id, wanted);
  }
  return sent;
}

/** Files of this provider are sent back; files of other providers are described. */
function toGeneratedPart(part: GeneratedMedia, entry: AssistantEntry, dialect: Dialect): object[] {
  const own = getProviderData(dialect.provider, part.opaque);
  const { mediaType, data } = part;
  if (isRecord(own) && data !== undefined) {
    const options = Object.keys(own).length > 0 ? { providerOptions: own } : {};
    return [{ type: "file", mediaType, data: tagFile({ type: "data", data }, dialect), ...options }];
  }
  const text = describeMedia(part, entry);
  return text === "" ? [] : [{ type: "text", text }];
}

function toAssistantParts(
  part: Exclude<AssistantPart, GeneratedMedia>,
  ids: ReadonlyMap<string, string>,
  provider: string,
): object[] {
  if (part.type === "opaque") {
    const own = getProviderData(provider, part.data);
    return typeof own === "object" && own !== null ? [own] : [];
  }
  const providerOptions = getProviderData(provider, part.opaque);
  const options = providerOptions === undefined ? {} : { providerOptions };
  if (part.type === "call") return [{ ...toToolCall(part, ids), ...options }];
  // Providers reject empty texts, but empty reasoning may carry a signature.
  return part.text || providerOptions !== undefined ? [{ type: part.type, text: part.text, ...options }] : [];
}

function toToolCall({ id, name, input, raw }: CallPart, ids: ReadonlyMap<string, string>): object {
  return {
    type: "tool-call",
    toolCallId: ids.get(id) ?? id,
    toolName: name,
    input: raw === undefined ? input : { _raw: raw },
  };
}

function toToolResult(entry: ResultEntry, ids: ReadonlyMap<string, string>, dialect: Dialect): object {
  const { callId, name, status, content } = entry;
  const output =
    status !== "ok"
      ? { type: "error-text", value: toPlainText(content) }
      : typeof content === "string"
        ? { type: "text", value: content }
        : { type: "content", value: content.map((part) => toResultPart(part, dialect)) };
  return { type: "tool-result", toolCallId: ids.get(callId) ?? callId, toolName: name, output };
}

function toUserParts(content: string | readonly Part[], dialect: Dialect): object[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map((part) => {
    if (part.type === "text") return { type: "text", text: part.text };
    const { mediaType } = part;
    const file = toFileData(part, dialect);
    if (!file) return { type: "text", text: toPlainText([part]) };
    return { type: "file", mediaType, data: tagFile(file, dialect) };
  });
}

/** From v4 on, data is tagged with its type. */
function tagFile(file: FileData, { version }: Dialect): unknown {
  if (version === "v4" || file.type === "reference") return file;
  return file.type === "url" ? file.url : file.data;
}

type FileData =
  | { readonly type: "data"; readonly data: string }
  | { readonly type: "url"; readonly url: URL }
  | { readonly type: "reference"; readonly reference: { readonly [provider: string]: string } };

/** Only v4 knows references to files at the provider. */
export function toFileData({ data, url, file }: MediaPart, dialect: Dialect): FileData | undefined {
  const provider = dialect.provider.split(".")[0] ?? "";
  if (dialect.version === "v4" && file?.provider === provider)
    return { type: "reference", reference: { [provider]: file.id } };
  if (data !== undefined) return { type: "data", data };
  return url !== undefined && URL.canParse(url) ? { type: "url", url: new URL(url) } : undefined;
}

function toResultPart(part: Part, dialect: Dialect): object {
  if (part.type === "text") return { type: "text", text: part.text };
  const { mediaType } = part;
  const { version } = dialect;
  const file = toFileData(part, dialect);
  // v2 does not support URLs in results.
  if (!file || (version === "v2" && file.type === "url"))
    return { type: "text", text: part.url ? `${toPlainText([part])} ${part.url}` : toPlainText([part]) };
  if (version === "v4" || file.type === "reference") return { type: "file", mediaType, data: file };
  if (file.type === "url")
    return { type: part.type === "image" ? "image-url" : "file-url", url: file.url.href };
  if (version === "v2") return { type: "media", mediaType, data: file.data };
  return { type: part.type === "image" ? "image-data" : "file-data", mediaType, data: file.data };
}

const wireName = "ai-sdk";

/** Tags provider data (`providerMetadata` or a whole message part) as JSON owned by the provider. */
export function tagProviderData(provider: string, data: unknown): Json {
  return tagData(wireName, { provider, data: JSON.parse(JSON.stringify(data)) as Json });
}

/** Returns the data if it belongs to this provider. */
export function getProviderData(provider: string, opaque: Json | undefined): Json | undefined {
  const own = getOwnData(wireName, opaque) as { readonly provider?: Json; readonly data?: Json } | undefined;
  return own?.provider === provider ? own.data : undefined;
}
