import { expect, it } from "vitest";
import { resolveAddress } from "./address.ts";
import { withStartPage } from "./start-page.ts";

it("without a studio, `/` lists example requests in plain text; refused requests stay refused", async () => {
  const nothing = () => new Response("{}", { status: 404, headers: { "x-content-type-options": "nosniff" } });
  const page = withStartPage(new Request("http://127.0.0.1:4680/"), nothing(), "The studio is not built.");
  expect(page.status).toBe(200);
  expect(page.headers.get("x-content-type-options")).toBe("nosniff");
  const text = await page.text();
  expect(text).toContain("There is no page here: The studio is not built.");
  expect(text).toContain("curl -N http://127.0.0.1:4680/api/chat");
  expect(withStartPage(new Request("http://127.0.0.1:4680/other"), nothing(), undefined).status).toBe(404);
  const refused = new Response("{}", { status: 421 });
  expect(withStartPage(new Request("http://evil.test/"), refused, undefined)).toBe(refused);
});

it("a flag goes before the environment, and that before the configuration", () => {
  const configured = { port: 1, host: "a.test" };
  expect(resolveAddress({}, {}, configured)).toEqual(configured);
  expect(resolveAddress({}, { PORT: "2", HOST: "b.test" }, configured)).toEqual({ port: 2, host: "b.test" });
  expect(resolveAddress({ port: "0", host: "c.test" }, { PORT: "2" }, configured)).toEqual({
    port: 0,
    host: "c.test",
  });
  for (const port of ["65536", "-1", "1.5", "x"])
    expect(() => resolveAddress({ port }, {})).toThrow(/--port is not a valid port/);
});

it("health checks have a port of their own on request", () => {
  expect(resolveAddress({}, { CAPSTAN_HEALTH_PORT: "4681" })).toEqual({ healthPort: 4681 });
  expect(() => resolveAddress({}, { CAPSTAN_HEALTH_PORT: "x" })).toThrow(
    /CAPSTAN_HEALTH_PORT is not a valid/,
  );
});
