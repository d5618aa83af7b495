import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const read = (path: string) => readFileSync(join(import.meta.dirname, path), "utf8");

it("the list of pages that the server knows has exactly the routes of the studio", () => {
  const routes = [...read("app.tsx").matchAll(/<Route path="([^"]+)"/g)].map(([, path]) => path);
  expect(routes.length).toBeGreaterThan(10);
  expect(JSON.parse(read("../public/pages.json"))).toEqual(routes);
});
