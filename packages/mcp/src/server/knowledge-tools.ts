import { type CallToolResult, fromJsonSchema, type McpServer } from "@modelcontextprotocol/server";
import { AgentError } from "capstan";
import { callError, codeOf } from "./call-result.ts";

/** Who searches, and a signal that says when nobody waits for it any more. */
export type KnowledgeCaller = { readonly user?: string; readonly signal: AbortSignal };

export type KnowledgeHit = { readonly id: string; readonly title: string; readonly url: string };

export type KnowledgeDocument = KnowledgeHit & {
  readonly text: string;
  readonly metadata?: Readonly<Record<string, string>>;
};

/** Documents that clients can search and read, in the form that ChatGPT's connectors expect. */
export interface Knowledge {
  search(query: string, caller: KnowledgeCaller): readonly KnowledgeHit[] | Promise<readonly KnowledgeHit[]>;
  /** Undefined when there is no such document. */
  fetch(
    id: string,
    caller: KnowledgeCaller,
  ): KnowledgeDocument | undefined | Promise<KnowledgeDocument | undefined>;
}

const text = { type: "string" } as const;
const hit = { id: text, title: text, url: text };
const readOnly = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

const searchInput = fromJsonSchema<{ readonly query: string }>({
  type: "object",
  properties: { query: { ...text, minLength: 1 } },
  required: ["query"],
});
const searchOutput = fromJsonSchema({
  type: "object",
  properties: {
    results: { type: "array", items: { type: "object", properties: hit, required: ["id", "title", "url"] } },
  },
  required: ["results"],
});
const fetchInput = fromJsonSchema<{ readonly id: string }>({
  type: "object",
  properties: { id: { ...text, minLength: 1 } },
  required: ["id"],
});
const fetchOutput = fromJsonSchema({
  type: "object",
  properties: {
    ...hit,
    text,
    metadata: { type: "object", additionalProperties: text },
  },
  required: ["id", "title", "text", "url"],
});

type Setting = {
  readonly knowledge: Knowledge;
  readonly user: string | undefined;
  onError(error: Error): void;
};

/** Adds `search` and `fetch` to a server. */
export function addKnowledgeTools(server: McpServer, { knowledge, user, onError }: Setting): void {
  const who = user === undefined ? {} : { user };
  const guarded = async (work: () => Promise<Record<string, unknown>>): Promise<CallToolResult> => {
    try {
      const value = await work();
      return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
    } catch (thrown) {
      if (!codeOf(thrown)) onError(thrown as Error);
      return callError(thrown);
    }
  };
  server.registerTool(
    "search",
    {
      description: "Searches the documents. Gives ids to read with `fetch`.",
      inputSchema: searchInput,
      outputSchema: searchOutput,
      annotations: readOnly,
    },
    ({ query }, { mcpReq: { signal } }) =>
      guarded(async () => {
        const hits = await knowledge.search(query, { ...who, signal });
        return { results: hits.map(({ id, title, url }) => ({ id, title, url })) };
      }),
  );
  server.registerTool(
    "fetch",
    {
      description: "Reads a document that `search` has found.",
      inputSchema: fetchInput,
      outputSchema: fetchOutput,
      annotations: readOnly,
    },
    ({ id }, { mcpReq: { signal } }) =>
      guarded(async () => {
        const found = await knowledge.fetch(id, { ...who, signal });
        if (!found)
          throw new AgentError("not_found", `There is no document "${id}": take an id from \`search\`.`);
        const { title, text: body, url, metadata = {} } = found;
        return { id: found.id, title, text: body, url, metadata: { ...metadata } };
      }),
  );
}
