import { AgentError } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import type { Agent } from "../kernel/agent.ts";
import { type Entry, getCalls, type Part, type TextPart, toPlainText } from "../kernel/history.ts";
import { getProvenance } from "../kernel/provenance.ts";

/** A chat API message. A `system` message is allowed only as the first one; it replaces the instructions. */
export type ChatMessage = {
  readonly role: "system" | "user" | "assistant";
  readonly content: string | readonly Part[];
};

/** Input of a run: text, parts, history entries, or chat messages. */
export type RunInput = string | readonly Part[] | readonly Entry[] | readonly ChatMessage[];

export type ReadInput = { readonly entries: readonly Entry[]; readonly instructions?: string };

/** Converts the input to the entries a run starts with. Throws `invalid_input` for an item no provider would accept. */
export function readInput(input: RunInput): ReadInput {
  if (typeof input === "string") return { entries: [{ type: "user", content: input }] };
  if (!Array.isArray(input)) throw createInputError("It must be a text or a list", input);
  const items: readonly unknown[] = input;
  if (items.length > 0 && items.every(isPart)) return { entries: [{ type: "user", content: items }] };
  if (items.some((item) => isRecord(item) && "role" in item)) return readMessages(items);
  const entries = items.map(readEntry);
  assertPairedCalls(entries);
  return { entries };
}

/** Returns the text of a plain message of the user; undefined for anything else, which only a separate run can take. */
export function findSteeringText(entries: readonly Entry[]): string | undefined {
  const [entry] = entries;
  if (entries.length !== 1 || entry?.type !== "user" || getProvenance(entry) !== "user") return undefined;
  const { content } = entry;
  if (typeof content === "string") return content;
  return content.every(({ type }) => type === "text") ? toPlainText(content) : undefined;
}

function readMessages(items: readonly unknown[]): ReadInput {
  const entries: Entry[] = [];
  let instructions: string | undefined;
  for (const [index, item] of items.entries()) {
    if (!isRecord(item) || !isContent(item.content))
      throw createInputError(`Message ${index + 1} needs a role and a content`, item);
    if (item.role === "user") entries.push({ type: "user", content: item.content });
    else if (item.role === "assistant" && hasTextOnly(item.content)) {
      const parts =
        typeof item.content === "string" ? [{ type: "text" as const, text: item.content }] : item.content;
      entries.push({ type: "assistant", parts });
    } else if (item.role === "system" && index === 0 && typeof item.content === "string")
      instructions = item.content;
    else
      throw createInputError(
        `Message ${index + 1} cannot be used: roles are user and assistant, and system as the first, with a text`,
        item,
      );
  }
  return { entries, ...(instructions !== undefined && { instructions }) };
}

function readEntry(item: unknown, index: number): Entry {
  if (isRecord(item)) {
    if (item.type === "user" && isContent(item.content)) return item as Entry;
    if (item.type === "assistant" && Array.isArray(item.parts)) return item as Entry;
    if (item.type === "result" && typeof item.callId === "string" && isContent(item.content))
      return item as Entry;
    if (item.type === "summary" && typeof item.text === "string") return item as Entry;
  }
  throw createInputError(`Item ${index + 1} is neither a part, an entry nor a chat message`, item);
}

/** Every provider requires a result for each call, directly after it and in call order. */
function assertPairedCalls(entries: readonly Entry[]): void {
  let open: string[] = [];
  for (const [index, entry] of entries.entries()) {
    if (entry.type === "result") {
      if (open.shift() !== entry.callId)
        throw createInputError(`Entry ${index + 1} is a result that no call is waiting for`, entry.callId);
      continue;
    }
    if (open.length > 0) break;
    open = entry.type === "assistant" ? getCalls(entry).map((call) => call.id) : [];
  }
  if (open.length > 0) throw createInputError("A call has no result behind it", open[0]);
}

function isContent(content: unknown): content is string | readonly Part[] {
  return typeof content === "string" || (Array.isArray(content) && content.every(isPart));
}

function hasTextOnly(content: string | readonly Part[]): content is string | readonly TextPart[] {
  return typeof content === "string" || content.every((part) => part.type === "text");
}

function isPart(item: unknown): item is Part {
  if (!isRecord(item)) return false;
  if (item.type === "text") return typeof item.text === "string";
  return (item.type === "image" || item.type === "file") && typeof item.mediaType === "string";
}

function createInputError(problem: string, item: unknown): AgentError {
  const shown = JSON.stringify(item)?.slice(0, 200) ?? typeof item;
  return new AgentError("invalid_input", `The input cannot be used. ${problem}; got ${shown}.`);
}

/** Throws `invalid_context` if the context of a run does not match the schema of its agent. */
export async function assertContext({ name, context: schema }: Agent, context: unknown): Promise<void> {
  const result = await schema?.validate(context);
  if (!result || result.valid) return;
  const issues = result.issues.slice(0, 10).join("; ");
  const hint = context === undefined ? "Pass it as `context`" : "Correct it";
  const message = `The context of the run does not match the schema of the agent "${name}": ${issues}. ${hint}; a run that another process started gets it from \`getResumeOptions\`.`;
  throw new AgentError("invalid_context", message);
}
