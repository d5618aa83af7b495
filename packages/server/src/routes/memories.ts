import {
  listMemories,
  loadMemory,
  type Memory,
  pickLessTrusted,
  removeMemories,
  removeMemory,
  saveMemory,
} from "capstan/memories";
import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import { defineRoute, type Route } from "./route.ts";

const scope = z
  .string()
  .min(1)
  .max(200)
  .describe("`user`, `agent:<name>` or `project:<name>`, each the caller's own.");
const path = z.string().min(1).max(200).describe("Such as `/memories/preferences.md`.");

const fields = {
  path: z.string(),
  provenance: z.enum(["user", "operator", "application", "external"]).describe("Who wrote the text."),
  version: z.int(),
  createdAt: z.number(),
  updatedAt: z.number(),
};
const memory: z.ZodType = z.object({ ...fields, text: z.string() });
const info: z.ZodType = z.object({
  ...fields,
  scope: z.string(),
  excerpt: z.string().describe("The beginning of the text, or the part that matches."),
  size: z.int().describe("The length of the text in characters."),
});

const toOwner = ({ scope: user }: Caller, part: string) => ({ user, scope: part });

/** The caller's memories. The user is always the caller: no field of a request names one. */
export const memoryRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/memories",
    summary: "List or search the caller's memories.",
    query: z.strictObject({
      scope: scope.optional(),
      query: z
        .string()
        .max(1000)
        .optional()
        .describe("Every word must start a word, regardless of case and accents."),
    }),
    responses: {
      200: {
        description: "The one changed last first; with a query, the best match first.",
        schema: z.object({ memories: z.array(info) }),
      },
    },
    async handle({ caller, query }, { store }) {
      return Response.json({ memories: await listMemories(store, caller.scope, query) });
    },
  }),
  defineRoute({
    method: "DELETE",
    path: "/api/memories",
    summary: "Delete all memories of the caller.",
    responses: { 204: { description: "Deleted." } },
    async handle({ caller }, { store }) {
      await removeMemories(store, caller.scope);
      return new Response(null, { status: 204 });
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/memories/{scope}",
    summary: "Get a memory.",
    params: z.strictObject({ scope }),
    query: z.strictObject({ path }),
    responses: { 200: { description: "The memory.", schema: memory } },
    async handle({ caller, params, query }, { store }) {
      return Response.json(await loadMemory(store, toOwner(caller, params.scope), query.path));
    },
  }),
  defineRoute({
    method: "PUT",
    path: "/api/memories/{scope}",
    params: z.strictObject({ scope }),
    summary: "Write a memory. Text from others in it stays untrusted.",
    body: z.strictObject({
      path,
      text: z.string().max(100_000),
      version: z.int().min(0).describe("Of the memory that is replaced; 0 for a new one."),
    }),
    responses: {
      200: { description: "The memory.", schema: memory },
      409: { description: "The memory has changed since." },
    },
    async handle({ caller, params, body: written }, { store }) {
      const owner = toOwner(caller, params.scope);
      // Editing a text does not make its other words the user's.
      const stored = written.version === 0 ? undefined : await loadMemory(store, owner, written.path);
      const provenance: Memory["provenance"] = pickLessTrusted(stored?.provenance ?? "user", "user");
      const saved = await saveMemory(store, owner, { ...written, provenance, now: Date.now() });
      return Response.json(saved);
    },
  }),
  defineRoute({
    method: "DELETE",
    path: "/api/memories/{scope}",
    summary: "Delete a memory, or all memories below a folder; without a path, all memories of the scope.",
    params: z.strictObject({ scope }),
    query: z.strictObject({ path: path.optional() }),
    responses: { 204: { description: "Deleted." } },
    async handle({ caller, params, query: { path: removed } }, { store }) {
      if (removed === undefined) await removeMemories(store, caller.scope, params.scope);
      else await removeMemory(store, toOwner(caller, params.scope), { path: removed, now: Date.now() });
      return new Response(null, { status: 204 });
    },
  }),
];
