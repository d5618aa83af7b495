import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { AgentError } from "capstan";
import { z } from "zod";
import type { Deployment, OwnDataAccess } from "../deployment.ts";
import { findDataFile, respondWithFile } from "../own-data/data-file.ts";
import type { NewData } from "../own-data/own-data.ts";
import { isUrl } from "../own-data/source-names.ts";
import { buildDataView, buildSourceView } from "../views/data-view.ts";
import { defineRoute, type Route } from "./route.ts";
import { id, json } from "./schemas.ts";

const source: z.ZodType = z.object({
  id: z.string().describe("The name of its agent."),
  app: z.string(),
  title: z.string(),
  addedAt: z.number(),
  locations: z.array(z.string()).optional().describe("Empty for uploaded files; admins only."),
  state: z.enum(["uploading", "loading", "ready", "failed"]),
  progress: z
    .object({ done: z.number(), total: z.number().optional(), item: z.string().optional() })
    .optional()
    .describe("Admins only."),
  report: z
    .object({
      counts: z.record(z.string(), z.number()),
      skippedCount: z.number(),
      skipped: z
        .array(z.object({ item: z.string(), reason: z.string() }))
        .optional()
        .describe("The first of them; admins only."),
    })
    .optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
});

const list: z.ZodType = z.object({
  apps: z.array(
    z.object({
      app: z.string(),
      description: z.string(),
      extensions: z.array(z.string()),
      acceptsFolders: z.boolean(),
      schemes: z.array(z.string()),
      settings: z.record(z.string(), z.string()).describe("What each setting means, by its name."),
    }),
  ),
  sources: z.array(source),
  canAdd: z.boolean().describe("Whether the caller may add and remove data."),
  allowsPaths: z.boolean().describe("Whether the caller may name files and folders of the server."),
});

const params = z.strictObject({ dataId: id });
const fileParams = z.strictObject({ dataId: id, path: z.string().min(1).max(2000) });

export const dataRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/data",
    summary: "List the apps that open own data, and the data they were opened on, with its progress.",
    responses: { 200: { description: "Empty lists if no app opens own data.", schema: list } },
    handle: async ({ caller }, { ownData }) => Response.json(await buildDataView(ownData, caller)),
  }),
  defineRoute({
    method: "POST",
    path: "/api/data",
    summary: "Open an app on own data. Without locations, upload files, then load.",
    access: "admin",
    startsWork: true,
    body: z.strictObject({
      app: id,
      title: z.string().min(1).max(200).optional(),
      locations: z
        .array(z.string().min(1).max(4000))
        .min(1)
        .max(1000)
        .optional()
        .describe("URLs, and where the server allows it absolute paths on its machine."),
      settings: z.record(z.string(), json).optional(),
    }),
    responses: { 201: { description: "The source.", schema: source } },
    async handle({ body, caller }, { ownData }) {
      const { data, allowsPaths } = assertOwnData(ownData);
      if (!allowsPaths) assertNoPaths(body.locations ?? []);
      // A parsed body contains nothing but JSON.
      const settings = body.settings as NewData["settings"];
      const locations = body.locations?.map(resolvePath);
      const added = await data.add({ ...body, locations, settings });
      const source = added.upload === "open" ? added : await data.load(added.name);
      return Response.json(buildSourceView(source, caller), { status: 201 });
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/data/{dataId}/load",
    summary: "Load data: after its files were uploaded, or again after a failure.",
    access: "admin",
    startsWork: true,
    params,
    responses: { 202: { description: "The source, which is loading.", schema: source } },
    async handle({ params: { dataId }, caller }, { ownData }) {
      const loading = await assertOwnData(ownData).data.load(dataId);
      return Response.json(buildSourceView(loading, caller), { status: 202 });
    },
  }),
  defineRoute({
    method: "DELETE",
    path: "/api/data/{dataId}",
    summary: "Forget own data, and delete its uploaded files and its index. Sessions are kept.",
    access: "admin",
    params,
    responses: { 204: { description: "Removed." } },
    async handle({ params: { dataId } }, { ownData }) {
      await assertOwnData(ownData).data.remove(dataId);
      return new Response(null, { status: 204 });
    },
  }),
];

export const dataFileRoutes: readonly Route[] = [
  defineRoute({
    method: "PUT",
    path: "/api/data/{dataId}/files/{path}",
    summary: "Upload one file; the body has its bytes, the path its name and folders.",
    access: "admin",
    startsWork: true,
    params: fileParams,
    responses: {
      200: { description: "The file is stored.", schema: z.object({ path: z.string(), bytes: z.number() }) },
    },
    async handle({ params: { dataId, path }, request }, { ownData }) {
      const bytes = await assertOwnData(ownData).data.upload(dataId, path, request.body);
      return Response.json({ path, bytes });
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/data/{dataId}/files/{path}",
    summary: "Get a file of own data. Nothing in it is executed: HTML is sent as text.",
    params: fileParams,
    responses: { 200: { description: "The bytes of the file.", type: "*/*" } },
    async handle({ params: { dataId, path } }, { ownData }) {
      const roots = await assertOwnData(ownData).data.listRoots(dataId);
      return respondWithFile(await findDataFile(roots, path));
    },
  }),
];

function assertOwnData(ownData: Deployment["ownData"]): OwnDataAccess {
  if (ownData) return ownData;
  throw new AgentError("not_found", "No app of this server opens own data. Add `data` to its options.");
}

/** Users write `~/notes`, which only a shell resolves. */
function resolvePath(location: string): string {
  if (isUrl(location)) return location;
  const path = location.replace(/^~(?=$|[/\\])/, () => homedir());
  return isAbsolute(path) ? resolve(path) : path;
}

function assertNoPaths(locations: readonly string[]): void {
  if (locations.every(isUrl)) return;
  const message =
    "This server opens no paths that a request names. Upload the files, or run `capstan app` on the server.";
  throw new AgentError("forbidden", message);
}
