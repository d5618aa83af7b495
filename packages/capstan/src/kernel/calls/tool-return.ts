/*
 * Object shapes by which a tool returns more than a plain value:
 *
 * | keys                                                      | recognized when                                     |
 * | --------------------------------------------------------- | --------------------------------------------------- |
 * | content data message ui contexts affected error reads     | each has its type, and there are not only the last  |
 * | retryable                                                 | two                                                 |
 * | success message data affectedNodes affectedEdges          | `success` is a boolean, `message` a text            |
 * | status content data error metadata                        | `status` fits `content`, `data` or `error`          |
 * | result error                                              | `result` is there, `error` is a text, null or none  |
 *
 * An object with any other key, or whose values have other types, is the tool's own value.
 */
import { describeThrown } from "../../base/errors.ts";
import { isRecord, type Json } from "../../base/json.ts";
import type { Fragment, Part, UiHint } from "../history.ts";
import { isReads } from "../provenance.ts";
import type { ToolContext, ToolReturn } from "../tool.ts";
import { toJson } from "./to-json.ts";

type Fields = { readonly [key: string]: unknown };
type Shape = { readonly keys: readonly string[]; read(fields: Fields): ToolReturn | undefined };

const shapes: readonly Shape[] = [
  {
    keys: ["content", "data", "message", "ui", "contexts", "affected", "error", "reads", "retryable"],
    read: readReturn,
  },
  { keys: ["success", "message", "data", "affectedNodes", "affectedEdges"], read: readCommand },
  { keys: ["status", "content", "data", "error", "metadata"], read: readStatus },
  { keys: ["result", "error"], read: readResult },
];

/** Converts a returned object to a `ToolReturn` if it has one of the shapes. Never throws. */
export function asToolReturn(returned: unknown): ToolReturn | undefined {
  try {
    if (!isRecord(returned)) return undefined;
    const keys = Object.keys(returned);
    const candidates = shapes.filter((shape) => keys.every((key) => shape.keys.includes(key)));
    if (keys.length === 0 || candidates.length === 0) return undefined;
    const fields = { ...returned };
    for (const shape of candidates) {
      const toolReturn = shape.read(fields);
      if (toolReturn) return toolReturn;
    }
    return undefined;
  } catch {
    return undefined; // a getter or a proxy that throws: serialized like any value, with the error noted
  }
}

/**
 * Wraps a tool that reports failure in its text: a text that starts with `Error:` becomes a failure, and the model reads
 * the text unchanged. Use it only for tools known to do so, because a file may start with that word too.
 */
export function withErrorPrefix<Input, Output>(
  execute: (input: Input, context: ToolContext) => Output | Promise<Output>,
): (input: Input, context: ToolContext) => Promise<Output | ToolReturn> {
  return async (input, context) => {
    const returned = await execute(input, context);
    if (typeof returned !== "string" || !returned.startsWith("Error:")) return returned;
    return { error: returned.slice("Error:".length).trim() || returned, content: returned };
  };
}

function readReturn(fields: Fields): ToolReturn | undefined {
  const { data, retryable, reads } = fields;
  // `{ error: true, message }`: the message describes the error.
  const isMarked = fields.error === true && typeof fields.message === "string";
  const [error, message] = isMarked ? [fields.message, undefined] : [fields.error, fields.message];
  const isIgnorable = (key: string) =>
    key === "retryable" || key === "reads" || (key === "error" && fields[key] === null);
  if (Object.keys(fields).every(isIgnorable)) return undefined;
  const content = Array.isArray(fields.content) ? readParts(fields.content) : fields.content;
  if (content !== fields.content && content === undefined) return undefined;
  if (content !== undefined && typeof content !== "string" && !Array.isArray(content)) return undefined;
  const failure = readError(error);
  if (!failure && error !== undefined && error !== null) return undefined;
  const ui = readJson(fields.ui);
  const contexts = readJson(fields.contexts);
  const affected = readJson(fields.affected);
  if (message !== undefined && typeof message !== "string") return undefined;
  if (retryable !== undefined && typeof retryable !== "boolean") return undefined;
  if (reads !== undefined && !isReads(reads)) return undefined;
  if (ui !== undefined && !isUiHint(ui)) return undefined;
  if (contexts !== undefined && !isFragments(contexts)) return undefined;
  return {
    ...failure,
    ...(content !== undefined && { content }),
    ...(data !== undefined && { data }),
    ...(message !== undefined && { message }),
    ...(ui !== undefined && { ui }),
    ...(contexts !== undefined && { contexts }),
    ...(affected !== undefined && { affected }),
    ...(reads !== undefined && { reads }),
    ...(retryable !== undefined && { retryable }),
  };
}

/** A command reports the nodes and edges it changed; the model reads only how many. */
function readCommand({ success, message, ...rest }: Fields): ToolReturn | undefined {
  if (typeof success !== "boolean" || typeof message !== "string") return undefined;
  const [nodes, edges] = [rest.affectedNodes ?? undefined, rest.affectedEdges ?? undefined];
  if (nodes !== undefined && !Array.isArray(nodes)) return undefined;
  if (edges !== undefined && !Array.isArray(edges)) return undefined;
  const data = readJson(rest.data);
  const summary = {
    success,
    message,
    ...(data !== undefined && { data }),
    ...(nodes && { affectedNodes: nodes.length }),
    ...(edges && { affectedEdges: edges.length }),
  };
  const affected = { ...(nodes && { nodes: toJson(nodes) }), ...(edges && { edges: toJson(edges) }) };
  return {
    content: JSON.stringify(summary, null, 2),
    ...(data !== undefined && { data }),
    ...((nodes || edges) && { affected }),
    ...(!success && { error: message }),
  };
}

/** Statuses that a retry does not change. */
const finalStatuses: readonly unknown[] = ["validation_error", "permission_denied", "not_found"];

function readStatus({ status, content, data, error, metadata }: Fields): ToolReturn | undefined {
  if (content !== undefined && typeof content !== "string") return undefined;
  if (metadata !== undefined && !isRecord(metadata)) return undefined;
  const { contexts: metadataContexts, ...otherMetadata } = metadata ?? {};
  const contexts = readJson(metadataContexts);
  const details = isRecord(error) ? error.details : undefined;
  const firstData = [data, details, Object.keys(otherMetadata).length > 0 ? otherMetadata : undefined].find(
    (value) => value !== undefined,
  );
  const rest: ToolReturn = {
    ...(firstData !== undefined && { data: firstData }),
    ...(contexts !== undefined && isFragments(contexts) && { contexts }),
  };
  if (status === "success") {
    if ((error ?? undefined) !== undefined || (content === undefined && data === undefined)) return undefined;
    return { ...rest, ...(content !== undefined && { content }) };
  }
  if (status !== "error" && !finalStatuses.includes(status)) return undefined;
  const failure = readError(error) ?? readError(content);
  if (!failure) return undefined;
  return {
    ...rest,
    ...failure,
    ...(content !== undefined && { content }),
    ...(status !== "error" && { retryable: false }),
  };
}

function readResult({ result, error }: Fields): ToolReturn | undefined {
  if (typeof error === "string")
    return { error, ...((result ?? undefined) !== undefined && { data: result }) };
  if (result === undefined || (error ?? undefined) !== undefined) return undefined;
  return typeof result === "string" ? { content: result } : { data: result };
}

/** Reads an error: a string, or an object with a message. */
function readError(error: unknown): Pick<ToolReturn, "error" | "retryable"> | undefined {
  if (typeof error === "string") return { error };
  if (!isRecord(error) || typeof error.message !== "string") return undefined;
  const { code, message, retryable } = describeThrown(error, "tool_failed");
  return { error: { code, message }, retryable };
}

function readJson(value: unknown): Json | undefined {
  return value === undefined ? undefined : toJson(value);
}

function isUiHint(value: Json): value is UiHint & { readonly [key: string]: Json } {
  return isRecord(value) && typeof value.kind === "string" && value.props !== undefined;
}

function isFragments(value: Json): value is Json & readonly Fragment[] {
  return Array.isArray(value) && value.every(isFragment);
}

function isFragment(value: unknown): boolean {
  if (!isRecord(value) || !isRecord(value.source)) return false;
  return [value.id, value.content, value.source.title].every((text) => typeof text === "string");
}

/** Reads each part once and validates it; undefined if any part is invalid. */
function readParts(content: readonly unknown[]): readonly Part[] | undefined {
  const parts = content.map(readPart).filter((part) => part !== undefined);
  return parts.length === content.length ? parts : undefined;
}

function readPart(value: unknown): Part | undefined {
  if (!isRecord(value)) return undefined;
  const { type, text, mediaType, data, url } = value;
  if (type === "text") return typeof text === "string" ? { type, text: text.toWellFormed() } : undefined;
  if ((type !== "image" && type !== "file") || typeof mediaType !== "string") return undefined;
  if (data !== undefined && typeof data !== "string") return undefined;
  if (url !== undefined && typeof url !== "string") return undefined;
  return { type, mediaType, ...(data !== undefined && { data }), ...(url !== undefined && { url }) };
}
