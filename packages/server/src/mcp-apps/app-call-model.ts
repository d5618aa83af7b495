import { AgentError, type Chunk, type Entry, isRecord, type Json, type Model, type UserEntry } from "capstan";

/** A call that an app makes, with the name that models use for the tool. */
export type AppCall = { readonly name: string; readonly arguments: Readonly<Record<string, Json>> };

/**
 * Creates the input of a run that makes the call of an app. Its provenance labels the conversation, so a call with an
 * effect needs the user's approval, and nothing in it counts as the user's words.
 */
export function createAppCallEntry(server: string, call: AppCall): UserEntry {
  const heading = `An app of the MCP server ${JSON.stringify(server)} calls a tool. The user did not write this.`;
  const texts = [heading, JSON.stringify(call)];
  return { type: "user", provenance: "external", content: texts.map((text) => ({ type: "text", text })) };
}

function parseAppCall(entry: Entry): AppCall | undefined {
  if (entry.type !== "user" || entry.provenance !== "external" || typeof entry.content === "string")
    return undefined;
  const [, part] = entry.content;
  if (part?.type !== "text") return undefined;
  const call: unknown = JSON.parse(part.text);
  if (!isRecord(call) || typeof call.name !== "string" || !isRecord(call.arguments)) return undefined;
  return { name: call.name, arguments: call.arguments as AppCall["arguments"] };
}

/** The model of a run that an app has started: makes the call of the run's input, then ends. */
export const appCallModel: Model = {
  id: "mcp-app/call",
  async *stream({ history }) {
    yield buildTurn(history);
  },
};

const noUsage: Chunk = { type: "usage", usage: { inputTokens: 0, outputTokens: 0, cost: 0 } };

function buildTurn(history: readonly Entry[]): readonly Chunk[] {
  const index = history.findLastIndex((entry) => entry.type === "user" && entry.provenance === "external");
  const [entry, ...later] = index < 0 ? [] : history.slice(index);
  const call = entry && parseAppCall(entry);
  if (!call) throw new AgentError("invalid_input", "The input of this run is not the call of an app.");
  const result = later.find((next) => next.type === "result");
  if (result?.type === "result")
    return [
      { type: "text", text: `The app called ${result.name}: ${result.status}.` },
      noUsage,
      { type: "finish", reason: "end" },
    ];
  return [
    { type: "call_start", index: 0, name: call.name },
    { type: "call_delta", index: 0, text: JSON.stringify(call.arguments) },
    noUsage,
    { type: "finish", reason: "tool_calls" },
  ];
}
