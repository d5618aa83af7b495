import { defineTool } from "capstan";
import { expect } from "vitest";
import { routes } from "../routes/all-routes.ts";
import type { Route } from "../routes/route.ts";
import { buildOpenApi, type OpenApi } from "../views/openapi.ts";

/** The OpenAPI document of the server, as a client gets it. */
export const openApi: OpenApi = JSON.parse(JSON.stringify(buildOpenApi(routes)));

export const getRouteName = ({ method, path }: Route): string => `${method} ${path}`;

/** Expects a response with a status, a type and a body that the document has for this route. */
export async function expectDocumented(route: Route, answer: Response): Promise<void> {
  const operation = openApi.paths[route.path]?.[route.method.toLowerCase()];
  const documented = Reflect.get(Object(operation?.responses), `${answer.status}`);
  expect(documented, `${answer.status} ${await answer.clone().text()}`).toBeDefined();
  const content: Record<string, { schema: object }> = documented.content ?? {};
  const type = "*/*" in content ? "*/*" : answer.headers.get("content-type")?.split(";")[0];
  if (answer.status === 204) return expect(Object.keys(content)).toEqual([]);
  expect(Object.keys(content)).toContain(type);
  const schema = content[type ?? ""]?.schema ?? {};
  const value = type === "application/json" ? await answer.json() : await answer.text();
  expect(await findIssues(schema, value)).toEqual([]);
}

/** Returns the issues of a value by a JSON Schema. */
export async function findIssues(schema: object, value: unknown): Promise<readonly string[]> {
  const input = { type: "object", properties: { value: schema }, required: ["value"] };
  const result = await defineTool({ name: "x", description: "", input }).schema.validate({ value });
  return result.valid ? [] : result.issues;
}
