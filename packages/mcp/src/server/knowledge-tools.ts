import { type CallToolResult, fromJsonSchema, type McpServer } from "@modelcontextprotocol/server";
import { AgentError } from "capstan";
import { findErrorCode, toCallError } from "./call-result.ts";

/** The caller. The signal aborts when the client gives up. */
export type KnowledgeCaller = { readonly user?: string; readonly signal: AbortSignal };

export type KnowledgeHit = { readonly id: string; readonly title: string; readonly url: string };

export type KnowledgeDocument = KnowledgeHit & {
  readonly text: string;
  readonly metadata?: Readonly<Record<string, string>>;
};

/** Documents for search and retrieval, in the form that ChatGPT's connectors expect. */
export interface Knowledge {
  search(query: string, caller: KnowledgeCaller): readonly KnowledgeHit[] | Promise<readonly KnowledgeHit[]>;
  /** Returns undefined if the document does not exist. */
  fetch(
    id: string,
    caller: KnowledgeCaller,
  ): KnowledgeDocument | undefined | Promise<KnowledgeDocument | undefined>;
}

const stringSchema = { type: "string" } as const;
const hitProperties = { id: stringSchema, title: stringSchema, url: stringSchema };
const readOnly = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

const searchInput = fromJsonSchema<{ readonly query: string }>({
  type: "object",
  properties: { query: { ...stringSchema, minLength: 1 } },
  required: ["query"],
});
const searchOutput = fromJsonSchema({
  type: "object",
  properties: {
    results: {
      type: "array",
      items: { type: "object", properties: hitProperties, required: ["id", "title", "url"] },
    },
  },
  required: ["results"],
});
const fetchInput = fromJsonSchema<{ readonly id: string }>({
  type: "object",
  properties: { id: { ...stringSchema, minLength: 1 } },
  required: ["id"],
});
const fetchOutput = fromJsonSchema({
  type: "object",
  properties: {
    ...hitProperties,
    text: stringSchema,
    metadata: { type: "object", additionalProperties: stringSchema },
  },
  required: ["id", "title", "text", "url"],
});

type KnowledgeContext = {
  readonly knowledge: Knowledge;
  readonly user: string | undefined;
  onError(error: Error): void;
};

export function addKnowledgeTools(server: McpServer, { knowledge, user, onError }: KnowledgeContext): void {
  const caller = user === undefined ? {} : { user };
  const toToolResponse = async (work: () => Promise<Record<string, unknown>>): Promise<CallToolResult> => {
    try {
      const value = await work();
      return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
    } catch (thrown) {
      if (!findErrorCode(thrown)) onError(thrown as Error);
      return toCallError(thrown);
    }
  };
  server.registerTool(
    "search",
    {
      description: "Searches the documents. Returns ids for `fetch`.",
      inputSchema: searchInput,
      outputSchema: searchOutput,
      annotations: readOnly,
    },
    ({ query }, { mcpReq: { signal } }) =>
      toToolResponse(async () => {
        const hits = await knowledge.search(query, { ...caller, signal });
        return { results: hits.map(({ id, title, url }) => ({ id, title, url })) };
      }),
  );
  server.registerTool(
    "fetch",
    {
      description: "Reads a document found by `search`.",
      inputSchema: fetchInput,
      outputSchema: fetchOutput,
      annotations: readOnly,
    },
    ({ id }, { mcpReq: { signal } }) =>
      toToolResponse(async () => {
        const found = await knowledge.fetch(id, { ...caller, signal });
        if (!found) throw new AgentError("not_found", `Unknown document "${id}". Use an id from \`search\`.`);
        const { title, text: body, url, metadata = {} } = found;
        return { id: found.id, title, text: body, url, metadata: { ...metadata } };
      }),
  );
}
