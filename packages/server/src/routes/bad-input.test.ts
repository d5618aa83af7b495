import { defineAgent, defineTool } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatRouteName, listRouteFields, validBodies } from "../testing/route-fields.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";
import { routes } from "./all-routes.ts";
import type { Route } from "./route.ts";

const pay = defineTool({
  ...{ name: "pay", description: "Pays", input: { type: "object" }, needsApproval: true },
  execute: () => "paid",
});
const reported: unknown[] = [];
let server: TestServer;
let ids: Readonly<Record<string, string>>;
beforeAll(async () => {
  const store = memory();
  const model = scriptedModel(() => ({ calls: [{ id: "c1", name: "pay" }] }));
  const agents = [defineAgent({ name: "helper", model, tools: [pay] })];
  server = createTestServer({ agents, store, onError: (error) => reported.push(error) });
  const run = await (await server.send("POST", "/api/runs", { input: "Hi" })).json();
  ids = { ...run, callId: "c1", handle: "blob_1", name: "helper", model: "helper", turn: "1", seq: "1" };
});
afterAll(() => server.close(0));

const buildPath = ({ path }: Route, given: Readonly<Record<string, string>> = {}) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(given[name] ?? ids[name] ?? "x"));

/** Values that match no schema, except one that accepts anything. */
const strange: readonly unknown[] = [
  ...[null, 12.5, -1, true, "", "x".repeat(1_100_000), [], [[]], {}, { toString: 1 }, "\u0000"],
];

async function expectRefusal(answer: Response, named: string): Promise<void> {
  const text = await answer.text();
  expect(answer.status, text).toBe(400);
  expect(text).toContain(named);
  expect(JSON.parse(text).error.message).toBeTypeOf("string");
}

const all = routes.map((route) => [formatRouteName(route), route] as const);
const withBody = all.filter(([, route]) => route.body !== undefined);

describe("invalid input is refused with the name of the field", () => {
  it.each(withBody)("in the body of %s", async (name, route) => {
    const good = validBodies[name] ?? expect.unreachable(`No good body for ${name}.`);
    expect(route.body?.safeParse(good).success, name).toBe(true);
    const send = (body: unknown) => server.send(route.method, buildPath(route), body);
    for (const field of ["userId", "resourceId", "scopes", "constructor", "toString"]) {
      const body = { ...good, [field]: "x" };
      if (!route.body?.safeParse(body).success) await expectRefusal(await send(body), field);
    }
    for (const { place, name: field, schema } of listRouteFields(route))
      for (const value of strange) {
        const body = { ...good, [field]: value };
        if (place !== "body" || schema.safeParse(value).success || route.body?.safeParse(body).success)
          continue;
        await expectRefusal(await send(body), field);
      }
    for (const body of [null, [], "x", 7, true]) expect((await send(body)).status).toBe(400);
  });

  it.each(all)("in the query of %s (A95)", async (name, route) => {
    // An authorization server may add anything to a callback (RFC 6749, 4.1.2).
    if (route.path === "/mcp" || route.path === "/mcp-callback") return;
    const good = validBodies[name];
    const fields = listRouteFields(route).filter(({ place }) => place === "query");
    const needed = fields.filter(({ schema }) => !schema.safeParse(undefined).success);
    const send = (query: string) => {
      const others = needed.filter((field) => !query.startsWith(`${field.name}=`));
      const whole = [query, ...others.map((field) => `${field.name}=1`)].join("&");
      return server.send(route.method, `${buildPath(route)}?${whole}`, good);
    };
    for (const field of ["$where", "__proto__", "most[$gt]", "scope", "user", "key", "order by"]) {
      if (fields.some(({ name }) => name === field)) continue; // checked in the tests of the route
      await expectRefusal(await send(`${encodeURIComponent(field)}=1`), JSON.stringify(field).slice(1, -1));
    }
    for (const { name: field, schema } of fields) {
      await expectRefusal(await send(`${field}=1&${field}=2`), field);
      for (const value of ["-1", "1.5", "x'; drop table facts;--", "x".repeat(2000)])
        if (!schema.safeParse(value).success)
          await expectRefusal(await send(`${field}=${encodeURIComponent(value)}`), field);
    }
  });

  it.each(all)("in the path of %s", async (name, route) => {
    const long = "x".repeat(300);
    for (const { place, name: field, schema } of listRouteFields(route)) {
      if (place !== "params" || schema.safeParse(long).success) continue;
      const answer = await server.send(route.method, buildPath(route, { [field]: long }), validBodies[name]);
      await expectRefusal(answer, field);
    }
  });

  it("in the headers", async () => {
    for (const key of ["", "x".repeat(257)])
      await expectRefusal(
        await server.send("POST", "/api/runs", { input: "Hi" }, { "idempotency-key": key }),
        "Idempotency-Key",
      );
  });

  it("and nothing of it is an error inside", () => {
    expect(reported).toEqual([]);
  });
});
