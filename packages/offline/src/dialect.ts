// The text dialect from the model's side: tools are described in the instructions, and calls and results are text.
// Converts such requests to native ones, and replies back to text.

import {
  type AssistantEntry,
  type AssistantPart,
  type CallPart,
  type Entry,
  getText,
  type Json,
  type ModelRequest,
  type ResultEntry,
  type ToolSpec,
  toPlainText,
} from "capstan";
import { createDialectParser } from "capstan/models/text-dialect";
import { splitSourceList } from "./answers/cite-sources.ts";
import type { Call } from "./dialog/call-records.ts";

const opening = /(?:^|\n\n)You have access to the following tools\.\n\nAVAILABLE TOOLS:\n/u;
const closing = "\n\nWhen you need a tool, write";

/** Converts a request in the text dialect to a native one. Undefined if the request is not in that dialect. */
export function parseDialectRequest(request: ModelRequest): ModelRequest | undefined {
  const section = parseHistorySection(request.history);
  const { instructions } = request;
  const history = section?.history ?? request.history;
  const start = opening.exec(instructions);
  const end = instructions.lastIndexOf(closing);
  // Without tools, only the history shows which dialect is in use.
  if (!start || end < start.index)
    return history.slice(-maxInspectedEntries).some(hasResults)
      ? { ...request, history: parseEntries(history) }
      : undefined;
  const listed = instructions.slice(start.index + start[0].length, end);
  const rules = section?.choice ?? instructions.slice(end);
  return {
    ...request,
    instructions: instructions.slice(0, start.index),
    tools: parseToolList(listed),
    history: parseEntries(history),
    toolChoice: rules.includes("\n\nYou must call")
      ? "required"
      : rules.includes("\n\nDo not call")
        ? "none"
        : "auto",
  };
}

const sectionHead = "CONVERSATION HISTORY:\n";
const choices = ["\n\nRespond with either:\n1. TOOL_CALL", "\n\nYou must call ", "\n\nDo not call "];

/** Reads a conversation that is one message; undefined for one with a message per turn. */
function parseHistorySection(
  history: readonly Entry[],
): { readonly history: Entry[]; readonly choice: string } | undefined {
  const [entry] = history;
  if (history.length !== 1 || entry?.type !== "user") return undefined;
  const text = toPlainText(entry.content);
  if (!text.startsWith(sectionHead)) return undefined;
  const end = Math.max(...choices.map((choice) => text.lastIndexOf(choice)));
  const body = text.slice(sectionHead.length, end);
  const turns = body.split(/^(user|assistant|tool|summary): /mu).slice(1);
  const parsed: Entry[] = [];
  for (let at = 0; at < turns.length; at += 2) {
    const content = (turns[at + 1] ?? "").replace(/\n$/u, "");
    if (turns[at] === "assistant")
      parsed.push({ type: "assistant", parts: [{ type: "text", text: content }] });
    else if (turns[at] === "summary") parsed.push({ type: "summary", text: content });
    else parsed.push({ type: "user", content });
  }
  return { history: parsed, choice: text.slice(end) };
}

/** A conversation with tools has a recent result. */
const maxInspectedEntries = 20;

const hasResults = (entry: Entry): boolean =>
  entry.type === "user" && typeof entry.content === "string" && entry.content.startsWith("TOOL_RESULT: ");

function parseToolList(listed: string): ToolSpec[] {
  const found = listed.matchAll(/^- (\S+): ([\s\S]*?)\n {2}Parameters: (\{.*\})$/gmu);
  return [...found].map(([, name = "", description = "", schema = "{}"]) => ({
    name,
    description,
    input: JSON.parse(schema),
  }));
}

function parseEntries(history: readonly Entry[]): Entry[] {
  let open: CallPart[] = [];
  let calls = 0;
  return history.flatMap((entry): Entry[] => {
    if (entry.type === "assistant") {
      const read = parseAssistantEntry(getText(entry), () => `call_${calls++}`);
      open = read.parts.filter((part) => part.type === "call");
      return [read];
    }
    if (entry.type !== "user" || typeof entry.content !== "string") return [entry];
    return hasResults(entry) ? parseResults(entry.content, open) : [entry];
  });
}

function parseAssistantEntry(text: string, newId: () => string): AssistantEntry {
  const parser = createDialectParser();
  const parts: AssistantPart[] = [];
  const raw: string[] = [];
  for (const chunk of [...parser.feed(text), ...parser.end()]) {
    if (chunk.type === "text") parts.push({ type: "text", text: chunk.text });
    if (chunk.type === "call_start") {
      raw.push("");
      parts.push({ type: "call", id: newId(), name: chunk.name, input: {} });
    }
    if (chunk.type === "call_delta") raw[chunk.index] += chunk.text;
  }
  let at = 0;
  return {
    type: "assistant",
    parts: parts.map((part) =>
      part.type === "call" ? { ...part, input: parseCallInput(raw[at++] ?? "") } : part,
    ),
  };
}

function parseCallInput(raw: string): { readonly [key: string]: Json } {
  try {
    return JSON.parse(raw);
  } catch {
    return {}; // the runtime refused the call, as its result states
  }
}

const resultPattern = /^TOOL_RESULT: (.*)\nSTATUS: (success|error)\nCONTENT: ([\s\S]*?)\n---$/gmu;

function parseResults(text: string, calls: readonly CallPart[]): ResultEntry[] {
  return [...text.matchAll(resultPattern)].map(([, name = "", outcome, content = ""], at) =>
    splitSourceList({
      type: "result",
      callId: calls[at]?.id ?? `result_${at}`,
      name,
      status: outcome === "success" ? "ok" : content.startsWith("The call was denied:") ? "denied" : "error",
      content,
    }),
  );
}

/** Formats a reply in the text dialect: reasoning in brackets, then the text or the calls. */
export function formatDialectReply(why: string, text: string, calls: readonly Call[]): string {
  const thought = why === "" ? [] : [`[Thinking: ${why.replace(/[[\]]/gu, "")}]`];
  const said = calls.map(({ name, input }) => `TOOL_CALL: ${name}\nARGUMENTS: ${JSON.stringify(input)}`);
  return [...thought, ...(text === "" ? [] : [text]), ...said].join("\n\n");
}
