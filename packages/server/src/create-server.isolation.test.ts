import { defineAgent, defineTool, type Store } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { routes } from "./routes/all-routes.ts";
import { mcpAppRoutes } from "./routes/mcp-apps.ts";
import type { Route } from "./routes/route.ts";
import { formatRouteName, listRouteFields, validBodies } from "./testing/route-fields.ts";
import { createTestServer, type TestServer } from "./testing/test-server.ts";

/** Ids whose owner is checked before any handler runs. */
const owned = ["sessionId", "runId", "otherRunId", "scheduleId"];
/** Ids that only occur within owned data. */
const inside = ["callId", "handle", "ruleId", "turn", "seq"];
/** Parts of the caller's own data, whose owner is never part of a request. */
const ownParts = ["scope"];
/** Names of data that all users, or all admins, share. */
const shared = [
  ...["name", "model", "server", "tool", "prompt", "dataId", "path"],
  ...["caseId", "experimentId", "otherId"],
];
/** Names that the handler accepts from admins only. */
const adminOnly = ["user"];
/** Ids that are hashed into a session id of the caller, or ignored if they are not the caller's. */
const derived = ["chatId", "threadId", "messageId"];

const localKey = "canary-local-key-0123456789";
const pay = defineTool({
  ...{ name: "pay", description: "Pays", input: { type: "object" }, needsApproval: true },
  execute: () => "paid",
});

type Ids = Readonly<
  Record<"sessionId" | "runId" | "otherRunId" | "scheduleId" | "callId" | "handle" | "turn" | "seq", string>
>;
let server: TestServer;
let store: Store;
let ada: Ids;
const headers: Record<string, Record<string, string>> = {};

beforeAll(async () => {
  store = memory();
  const model = scriptedModel(() => ({ calls: [{ id: "c1", name: "pay" }] }));
  server = createTestServer({
    agents: [defineAgent({ name: "helper", model, tools: [pay] })],
    store,
    apiKey: localKey,
  });
  headers.local = { authorization: `Bearer ${localKey}` };
  for (const user of ["ada", "bob"])
    headers[user] = { authorization: `Bearer ${(await server.keys.create({ user })).secret}` };
  ada = await createOwned("ada", "canary-word of Ada");
  await createOwned("bob", "words of Bob");
});
afterAll(() => server.close(0));

/** A user's data: a session with a waiting run and a large result. */
async function createOwned(user: string, input: string): Promise<Ids> {
  const { runId, sessionId } = await (
    await server.send("POST", "/api/runs", { input }, headers[user])
  ).json();
  for (let state = ""; state !== "waiting"; ) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    state = (await store.listRuns(sessionId))[0]?.state ?? "";
  }
  const memory = { path: "/memories/notes.md", text: input, version: 0 };
  expect((await server.send("PUT", "/api/memories/user", memory, headers[user])).status).toBe(200);
  const handle = await store.putBlob(sessionId, { mediaType: "text/plain", data: input });
  const schedule = { input, when: "every day at 9", sessionId };
  const { id: scheduleId } = await (
    await server.send("POST", "/api/schedules", schedule, headers[user])
  ).json();
  return { runId, otherRunId: runId, sessionId, scheduleId, callId: "c1", handle, turn: "1", seq: "1" };
}

const listNames = (route: Route) =>
  listRouteFields(route).flatMap(({ name }) => (isProtocolField(route, name) ? [] : [name]));
const isOwnedRoute = (route: Route) => listNames(route).some((name) => owned.includes(name));

/** Every way to pass these ids to a route: all in the path, plus one in the query or body. */
function buildRequests(route: Route, ids: Ids): { path: string; body: object | undefined }[] {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(Reflect.get(ids, name) ?? name),
  );
  const body = route.body && validBodies[formatRouteName(route)];
  const named = listRouteFields(route).filter(
    ({ place, name }) => place !== "params" && owned.includes(name),
  );
  const requests = named.map(({ place, name }) => {
    const id: string = Reflect.get(ids, name);
    if (place === "query") return { path: `${path}?${name}=${encodeURIComponent(id)}`, body };
    return { path, body: { ...body, [name]: id } };
  });
  return named.length === 0 || /\{(sessionId|runId|scheduleId)\}/.test(route.path)
    ? [{ path, body }, ...requests]
    : requests;
}

async function readEverything(): Promise<unknown> {
  const { sessionId, runId, handle } = ada;
  return structuredClone([
    await store.read(sessionId),
    await store.getSession(sessionId),
    await store.listRuns(sessionId),
    await store.listMessages(runId),
    await store.getBlob(sessionId, handle),
    await store.list({ scope: "ada" }),
    await store.listRecords("schedule", { scope: "ada" }),
  ]);
}

const nowhere: Ids = {
  ...{ sessionId: "ada~ses_nowhere", runId: "run_nowhere", otherRunId: "run_nowhere" },
  ...{ scheduleId: "ada~sch_nowhere", callId: "c1", handle: "blob_1", turn: "1", seq: "1" },
};

describe("the table of routes", () => {
  /** Admins manage the data of all users; `admin.test.ts` tests that nobody else does. */
  const isAdministrative = ({ path }: Route) => path.startsWith("/api/admin/");

  it("reserves administration for admins (A84)", () => {
    const administrative = routes.filter(isAdministrative);
    expect(new Set(administrative.map(({ access }) => access))).toEqual(new Set(["admin"]));
  });

  it("has no unchecked id in a path (A84)", () => {
    for (const route of routes.filter((one) => !isAdministrative(one)))
      for (const [, name = ""] of route.path.matchAll(/\{(\w+)\}/g)) {
        expect([...owned, ...inside, ...ownParts, ...shared, ...derived], formatRouteName(route)).toContain(
          name,
        );
        if (inside.includes(name)) expect(route.path).toMatch(/\{(sessionId|runId)\}/);
      }
  });

  it("has no unchecked id in a field (A84)", () => {
    for (const route of routes.filter((one) => !isAdministrative(one)))
      for (const { name, place } of listRouteFields(route))
        if (/id$|ids$|handle|owner|user|scope/i.test(name) && !isProtocolField(route, name))
          expect(
            [...owned, ...inside, ...ownParts, ...shared, ...derived, ...adminOnly],
            `${place} of ${formatRouteName(route)}`,
          ).toContain(name);
  });

  it("requires authentication wherever data has an owner (A84)", () => {
    for (const route of routes)
      if (isOwnedRoute(route)) expect(route.access, formatRouteName(route)).not.toBe("anyone");
  });
});

/** Fields of other protocols that name nothing here, or become a `runId` before the check. */
function isProtocolField({ path }: Route, name: string): boolean {
  if (path === "/v1/responses") return name === "previous_response_id";
  if (path === "/v1/models") return ["after_id", "before_id"].includes(name);
  if (path === "/api/ui/chat") return ["id", "messageId"].includes(name);
  if (path === "/ag-ui") return ["threadId", "runId", "parentRunId"].includes(name);
  return path === "/v1/chat/completions" && ["user", "safety_identifier"].includes(name);
}

const about = routes.filter(isOwnedRoute).map((route) => [formatRouteName(route), route] as const);

describe("data of a user does not exist for other users", () => {
  it.each(about)("%s (A84)", async (_, route) => {
    const before = await readEverything();
    const others = buildRequests(route, nowhere);
    for (const [index, { path, body }] of buildRequests(route, ada).entries())
      for (const user of ["bob", "local"]) {
        const answer = await server.send(route.method, path, body, headers[user]);
        const text = await answer.text();
        // Other users learn nothing from a route for admins.
        const status = route.access === "admin" && user === "bob" ? 403 : 404;
        expect(answer.status, `${route.method} ${path}: ${text}`).toBe(status);
        const other = others[index];
        const missing = await server.send(route.method, other?.path ?? "", other?.body, headers[user]);
        expect(missing.status).toBe(status);
        // The same message, so that the response does not reveal which ids exist.
        const maskIds = (words: string, { sessionId, runId, scheduleId }: Ids) =>
          words.replaceAll(sessionId, "ID").replaceAll(runId, "ID").replaceAll(scheduleId, "ID");
        expect(maskIds(text, ada)).toBe(maskIds(await missing.text(), nowhere));
        expect([...answer.headers.keys()]).toEqual([...missing.headers.keys()]);
      }
    expect(await readEverything()).toEqual(before);
  });

  it("while its user gets it, by the same requests (A84)", async () => {
    for (const [name, route] of about) {
      // No fact here has an MCP App; `routes/mcp-apps.test.ts` sends these requests for one that has.
      if (route.method !== "GET" || mcpAppRoutes.includes(route)) continue;
      for (const { path } of buildRequests(route, ada)) {
        const answer = await server.send("GET", path, undefined, headers.ada);
        expect(answer.status, name).toBe(200);
        await answer.body?.cancel();
      }
    }
  });

  it("in no list and in no search (A84)", async () => {
    const lists = routes.filter(
      (route) => route.method === "GET" && !route.path.includes("{") && !/^\/mcp/.test(route.path),
    );
    const paths = [
      ...lists.filter(({ access }) => access !== "admin").map(({ path }) => path),
      "/api/sessions?search=canary",
      "/api/sessions?search=word",
      "/api/memories?query=canary",
    ];
    for (const path of paths)
      for (const user of ["bob", "local"]) {
        const answer = await server.send("GET", path, undefined, headers[user]);
        expect(answer.status, path).toBe(200);
        const text = await answer.text();
        expect(text, path).not.toContain("canary");
        expect(text, path).not.toContain(ada.runId);
        expect(text, path).not.toContain("ada~");
      }
    const own = await (
      await server.send("GET", "/api/sessions?search=canary", undefined, headers.ada)
    ).text();
    expect(own).toContain("canary-word");
  });

  it("without a key, or with an unknown one (A83)", async () => {
    for (const [, route] of about)
      for (const { path, body } of buildRequests(route, ada))
        for (const given of [{}, { authorization: "Bearer cap_nobody_nothing" }])
          expect((await server.send(route.method, path, body, given)).status, path).toBe(401);
  });

  it("whatever else a request claims about its sender (A85)", async () => {
    const path = `/api/sessions/${encodeURIComponent(ada.sessionId)}`;
    for (const name of ["x-user", "x-user-id", "x-forwarded-user", "x-scope", "x-openclaw-scopes"]) {
      const answer = await server.send("GET", path, undefined, { ...headers.bob, [name]: "ada" });
      expect(answer.status, name).toBe(404);
    }
  });
});

it("ids that differ in case or normal form are other ids (A119)", async () => {
  const listVariants = (id: string) =>
    [
      ...[id.toUpperCase(), `${id} `, ` ${id}`, `${id}\u0301`, `\u200b${id}`],
      ...[id.replace("s", "\u017f"), id.replace("~", "\uff5e"), id.replace("r", "\u0433")],
    ].filter((variant) => variant !== id);
  for (const id of listVariants(ada.sessionId))
    for (const path of ["", "/export", "/events"]) {
      const answer = await server.send(
        "GET",
        `/api/sessions/${encodeURIComponent(id)}${path}`,
        undefined,
        headers.ada,
      );
      expect(answer.status, JSON.stringify(id)).toBe(404);
    }
  for (const id of listVariants(ada.runId)) {
    const answer = await server.send("POST", `/api/runs/${encodeURIComponent(id)}/cancel`, {}, headers.ada);
    expect(answer.status, JSON.stringify(id)).toBe(404);
  }
});
