import { isRecord } from "../../base/json.ts";
import type { Part, ResultEntry } from "../../kernel/history.ts";
import { toPlainText } from "../../kernel/history.ts";
import type { HostedToolSpec } from "../../kernel/hosted-tool.ts";

type Fields = { readonly [field: string]: unknown };

/**
 * Items that are calls, but not of functions: the request to approve a call of a hosted MCP server, and the actions of a
 * computer. Each is kept with the call, and its answer has an own form.
 */
export type ClientCall = { readonly name: string; readonly id: string; readonly input: Fields };

/** Returns the call of a hosted tool that the client answers; undefined for other items. */
export function findClientCall(item: Fields, hosted: readonly HostedToolSpec[]): ClientCall | undefined {
  const { type, id, call_id: callId, server_label: label } = item;
  if (type === "mcp_approval_request" && typeof id === "string") {
    const tool = hosted.find(
      ({ kind, options }) => kind === "mcp" && "label" in options && options.label === label,
    );
    const input = { tool: item.name, arguments: parseCallInput(item.arguments) };
    return tool && { id, name: tool.name, input };
  }
  const computer = hosted.find(({ kind }) => kind === "computer");
  if (type !== "computer_call" || typeof callId !== "string" || !computer) return undefined;
  const { action, actions, pending_safety_checks: checks } = item;
  const hasChecks = Array.isArray(checks) && checks.length > 0;
  const input = {
    ...(actions ? { actions } : { action }),
    ...(hasChecks && { pending_safety_checks: checks }),
  };
  return { id: callId, name: computer.name, input };
}

function parseCallInput(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return String(text); // shown to the user as it is
  }
}

/** Returns the items that answer such a call; undefined if the item was a call of a function. */
export function toClientResult(item: Fields | undefined, result: ResultEntry): readonly Fields[] | undefined {
  if (item?.type === "mcp_approval_request") {
    const approve = result.status === "ok";
    const reason = approve ? {} : { reason: toPlainText(result.content) };
    return [{ type: "mcp_approval_response", approval_request_id: item.id, approve, ...reason }];
  }
  return item?.type === "computer_call" ? toComputerItems(item, result) : undefined;
}

const isMedia = (part: Part): part is Exclude<Part, { type: "text" }> => part.type !== "text";

/** A white pixel: the API accepts no result without a screenshot. */
const blank =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII=";

function toComputerItems(item: Fields, { content, status }: ResultEntry): readonly Fields[] {
  const parts: readonly Part[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const image = parts.filter(isMedia).at(-1);
  const url = image && (image.data ? `data:${image.mediaType};base64,${image.data}` : image.url);
  const checks = Array.isArray(item.pending_safety_checks) ? item.pending_safety_checks.filter(isRecord) : [];
  const text = toPlainText(parts.filter((part) => part.type === "text")).trim();
  return [
    {
      ...{ type: "computer_call_output", call_id: item.call_id },
      output: { type: "computer_screenshot", image_url: url ?? blank },
      // The user approved the call with these warnings.
      ...(checks.length > 0 && status === "ok" && { acknowledged_safety_checks: checks }),
    },
    ...(text === ""
      ? []
      : [{ type: "message", role: "user", content: `Result of the last action: ${text}` }]),
  ];
}
