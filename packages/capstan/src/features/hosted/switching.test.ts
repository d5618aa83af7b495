import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { addChunk, buildParts, createMessageBuilder } from "../../kernel/calls/message-builder.ts";
import type { AssistantEntry, Entry } from "../../kernel/history.ts";
import type { HostedToolSpec } from "../../kernel/hosted-tool.ts";
import type { Chunk } from "../../kernel/model.ts";
import { anthropicMessages } from "../../models/anthropic-messages.ts";
import { geminiContent } from "../../models/gemini-content.ts";
import { openAiChat } from "../../models/openai-chat.ts";
import { openAiResponses } from "../../models/openai-responses.ts";
import type { Wire } from "../../models/wire.ts";

const recordings = new URL("../../../../../../shared/wire/vercel-ai/", import.meta.url);
const read = (file: string): unknown => JSON.parse(readFileSync(new URL(file, recordings), "utf8"));

const hosted: readonly HostedToolSpec[] = [
  { kind: "mcp", name: "mcp_zip1", options: { label: "zip1", url: "https://zip1.io/mcp" } },
];

function assemble(chunks: readonly Chunk[]): AssistantEntry {
  let count = 0;
  const message = createMessageBuilder((id) => id ?? `call_${++count}`);
  for (const chunk of chunks) addChunk(message, chunk);
  return { type: "assistant", parts: buildParts(message) };
}

/** A turn of each provider with hosted parts, text, and a signature or a call where a recording has one. */
const turns: readonly { readonly wire: Wire; readonly name: string; load(): AssistantEntry }[] = [
  {
    ...{ wire: anthropicMessages, name: "a search and code" },
    load: () =>
      assemble(anthropicMessages.fromJson(read("anthropic/anthropic-code-execution-20250825.2.json"))),
  },
  {
    ...{ wire: anthropicMessages, name: "an MCP server" },
    load: () => assemble(anthropicMessages.fromJson(read("anthropic/anthropic-mcp.1.json"))),
  },
  {
    ...{ wire: openAiResponses, name: "a web search" },
    load: () => assemble(openAiResponses.fromJson(read("openai/responses/openai-web-search-tool.1.json"))),
  },
  {
    ...{ wire: openAiResponses, name: "a request for approval" },
    load: () =>
      assemble(openAiResponses.fromJson(read("openai/responses/openai-mcp-tool-approval.1.json"), hosted)),
  },
  {
    ...{ wire: geminiContent, name: "code and a signed call" },
    load: () =>
      assemble(
        geminiContent.fromJson({
          candidates: [
            {
              content: {
                parts: [
                  { executableCode: { code: "print(1)", language: "PYTHON" } },
                  { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } },
                  { text: "One." },
                  { functionCall: { name: "look", args: {} }, thoughtSignature: "c2ln" },
                ],
              },
              finishReason: "STOP",
            },
          ],
        }),
      ),
  },
];
const wires: readonly [string, Wire, string][] = [
  ["Anthropic", anthropicMessages, "claude-sonnet-4-6"],
  ["OpenAI Responses", openAiResponses, "gpt-5"],
  ["chat completions", openAiChat, "gpt-4o"],
  ["Gemini", geminiContent, "gemini-3-pro"],
];

/** Names of the providers' own blocks. */
const ownBlocks =
  /server_tool_use|_tool_result"|mcp_tool_use|web_search_call|mcp_list_tools|mcp_approval|executableCode|codeExecutionResult|thoughtSignature":"c2ln|encrypted_content|"rs_|container_/;

describe.skipIf(!existsSync(recordings))("a run that switches providers", () => {
  for (const turn of turns)
    it.each(
      wires,
    )(`after ${turn.wire.name} used ${turn.name}, %s gets texts, calls and results, and only its own blocks`, (_name, wire, model) => {
      const entry = turn.load();
      const calls = entry.parts.filter((part) => part.type === "call");
      const history: Entry[] = [
        { type: "user", content: "Go" },
        entry,
        ...calls.map(
          ({ id, name }): Entry => ({
            type: "result",
            callId: id,
            name,
            status: "ok",
            content: "the result",
          }),
        ),
        { type: "user", content: "And now?" },
      ];
      const request = { instructions: "", history, tools: [], toolChoice: "auto", thinking: false } as const;
      const body = wire.toRequest(request, { model, stream: false });
      const isOwn = wire === turn.wire;
      expect(ownBlocks.test(body)).toBe(isOwn);
      const isAnswered = body.includes("the result") || body.includes('"approve":true');
      expect(isAnswered || calls.length === 0).toBe(true);
      for (const part of entry.parts)
        if (part.type === "text" && part.text.trim() !== "")
          expect(body).toContain(JSON.stringify(part.text).slice(1, -1));
      const ids = entry.parts.flatMap((part) =>
        part.type === "opaque"
          ? (/"(?:tool_use_)?id":"([^"]+)"/.exec(JSON.stringify(part.data))?.[1] ?? [])
          : [],
      );
      for (const id of ids)
        expect([id, body.includes(id) && !id.startsWith("container")]).toEqual([
          id,
          isOwn && !id.startsWith("container"),
        ]);
    });
});
