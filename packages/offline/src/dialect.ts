// The text dialect, from the model's side: a model without tools of its own is told of them in the instructions, reads
// calls and results as text, and writes calls as text. Here that becomes a request like any other, and back.

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
} from "capstan";
import { dialectParser } from "capstan/models/text-dialect";
import type { Call } from "./done-calls.ts";

const opening = /(?:^|\n\n)You have access to the following tools\.\n\nAVAILABLE TOOLS:\n/u;
const closing = "\n\nWhen you need a tool, write";

/** The request that a request in the text dialect stands for; nothing when it is not in that dialect. */
export function fromDialect(request: ModelRequest): ModelRequest | undefined {
  const { instructions, history } = request;
  const start = opening.exec(instructions);
  const end = instructions.lastIndexOf(closing);
  // Where tools are withdrawn, only the history tells how it is written.
  if (!start || end < start.index)
    return history.slice(-mostLooked).some(hasResults)
      ? { ...request, history: entriesOf(history) }
      : undefined;
  const listed = instructions.slice(start.index + start[0].length, end);
  const rules = instructions.slice(end);
  return {
    ...request,
    instructions: instructions.slice(0, start.index),
    tools: toolsIn(listed),
    history: entriesOf(history),
    toolChoice: rules.includes("\n\nYou must call")
      ? "required"
      : rules.includes("\n\nDo not call")
        ? "none"
        : "auto",
  };
}

/** Whoever uses tools has used one of late. */
const mostLooked = 20;

const hasResults = (entry: Entry): boolean =>
  entry.type === "user" && typeof entry.content === "string" && entry.content.startsWith("TOOL_RESULT: ");

function toolsIn(listed: string): ToolSpec[] {
  const found = listed.matchAll(/^- (\S+): ([\s\S]*?)\n {2}Parameters: (\{.*\})$/gmu);
  return [...found].map(([, name = "", description = "", schema = "{}"]) => ({
    name,
    description,
    input: JSON.parse(schema),
  }));
}

function entriesOf(history: readonly Entry[]): Entry[] {
  let open: CallPart[] = [];
  let calls = 0;
  return history.flatMap((entry): Entry[] => {
    if (entry.type === "assistant") {
      const read = assistantEntry(getText(entry), () => `call_${calls++}`);
      open = read.parts.filter((part) => part.type === "call");
      return [read];
    }
    if (entry.type !== "user" || typeof entry.content !== "string") return [entry];
    return hasResults(entry) ? resultsIn(entry.content, open) : [entry];
  });
}

function assistantEntry(text: string, newId: () => string): AssistantEntry {
  const parser = dialectParser();
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
    parts: parts.map((part) => (part.type === "call" ? { ...part, input: inputIn(raw[at++] ?? "") } : part)),
  };
}

function inputIn(raw: string): { readonly [key: string]: Json } {
  try {
    return JSON.parse(raw);
  } catch {
    return {}; // it was refused, and the result says so
  }
}

const resultPattern = /^TOOL_RESULT: (.*)\nSTATUS: (success|error)\nCONTENT: ([\s\S]*?)\n---$/gmu;

function resultsIn(text: string, calls: readonly CallPart[]): ResultEntry[] {
  return [...text.matchAll(resultPattern)].map(([, name = "", outcome, content = ""], at) => ({
    type: "result",
    callId: calls[at]?.id ?? `result_${at}`,
    name,
    status: outcome === "success" ? "ok" : content.startsWith("The call was denied:") ? "denied" : "error",
    content,
  }));
}

/** A reply as the dialect wants it: what was thought in brackets, then the words or the calls. */
export function inDialect(why: string, text: string, calls: readonly Call[]): string {
  const thought = why === "" ? [] : [`[Thinking: ${why.replace(/[[\]]/gu, "")}]`];
  const said = calls.map(({ name, input }) => `TOOL_CALL: ${name}\nARGUMENTS: ${JSON.stringify(input)}`);
  return [...thought, ...(text === "" ? [] : [text]), ...said].join("\n\n");
}
