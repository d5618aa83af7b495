import { z } from "zod";
import type { Route } from "../routes/route.ts";

/** A named input of a route. */
export type Field = {
  readonly place: "params" | "query" | "body";
  readonly name: string;
  readonly schema: z.ZodType;
};

/** Lists the top-level fields of a route's parameters, query and body. */
export function listRouteFields(route: Route): readonly Field[] {
  return (["params", "query", "body"] as const).flatMap((place) => {
    const schema = route[place];
    return schema ? listFields(schema).map(([name, field]) => ({ place, name, schema: field })) : [];
  });
}

function listFields(schema: z.ZodType): readonly (readonly [string, z.ZodType])[] {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return listFields(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodPipe) return listFields(schema.in as z.ZodType);
  if (schema instanceof z.ZodIntersection)
    return [schema.def.left, schema.def.right].flatMap((part) => listFields(part as z.ZodType));
  if (schema instanceof z.ZodUnion)
    return schema.options.flatMap((option) => listFields(option as z.ZodType));
  if (schema instanceof z.ZodObject) return Object.entries(schema.shape as Record<string, z.ZodType>);
  throw new Error("Unsupported schema: extend `listFields`.");
}

const text = [{ role: "user", content: "Hi" }];

/** A valid body for each route that takes one. */
export const validBodies: Readonly<Record<string, object>> = {
  "POST /api/sign-in": { code: "none" },
  "PUT /api/agents/{name}": { data: { format: 1, name: "note" }, expectedVersion: 0 },
  "POST /api/agents/{name}/restore": { version: 1, expectedVersion: 1 },
  "PUT /api/admin/quotas": { quotas: {} },
  "POST /api/admin/keys": { user: "ada" },
  "PUT /api/admin/drain": { isDraining: false },
  "POST /api/data": { app: "texts" },
  "PUT /api/memories/{scope}": { path: "/memories/notes.md", text: "Tea", version: 0 },
  "PUT /api/datasets/{name}": {},
  "POST /api/datasets/{name}/import": { format: "csv", text: "input\nHi" },
  "POST /api/datasets/{name}/cases": { runId: "run" },
  "PUT /api/datasets/{name}/cases/{caseId}": { input: "Hi" },
  "POST /api/experiments": { dataset: "cases", agent: "helper", scorers: ["exact"] },
  "POST /api/experiments/{experimentId}/reviews": { caseId: "case", attempt: 1 },
  "POST /api/runs/{runId}/requests/{turn}/try": {},
  "POST /api/sessions": {},
  "POST /api/schedules": { input: "Hi", when: "every day at 9" },
  "PATCH /api/sessions/{sessionId}": { title: "Mine" },
  "POST /api/sessions/{sessionId}/fork": { at: 1 },
  "POST /api/sessions/{sessionId}/compact": {},
  "POST /api/runs": { input: "Hi" },
  "POST /api/runs/{runId}/cancel": {},
  "POST /api/runs/{runId}/background/{callId}/cancel": {},
  "POST /api/runs/{runId}/rerun": {},
  "POST /api/runs/{runId}/retry": {},
  "POST /api/runs/{runId}/feedback": { rating: "up" },
  "POST /api/mcp-servers/{server}/trust": {},
  "POST /api/mcp-servers": { name: "files", config: { url: "https://mcp.example/mcp" } },
  "POST /api/mcp-servers/{server}/tools/{tool}/call": { input: {} },
  "POST /api/mcp-servers/{server}/prompts/{prompt}": {},
  "POST /api/sessions/{sessionId}/apps/{seq}/calls": { tool: "refresh" },
  "POST /api/runs/{runId}/steer": { text: "Hi" },
  "POST /api/runs/{runId}/approvals/{callId}": { approved: true },
  "POST /api/runs/{runId}/approvals/{callId}/preview": {},
  "POST /api/runs/{runId}/results/{callId}": { value: 1 },
  "POST /api/chat": { messages: text },
  "POST /api/ui/chat": { id: "chat", messages: [{ role: "user", parts: [{ type: "text", text: "Hi" }] }] },
  "POST /api/ui/chat/{chatId}/stop": {},
  "POST /ag-ui": { threadId: "thread", runId: "run", messages: text },
  "POST /ag-ui/{threadId}/stop": {},
  "POST /v1/chat/completions": { model: "helper", messages: text },
  "POST /v1/messages": { model: "helper", max_tokens: 100, messages: text },
  "POST /v1/responses": { model: "helper", input: "Hi" },
};

export const formatRouteName = ({ method, path }: Route): string => `${method} ${path}`;
