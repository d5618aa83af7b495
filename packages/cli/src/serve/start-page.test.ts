import { expect, it } from "vitest";
import { addressOf } from "./address.ts";
import { startPage } from "./start-page.ts";

it("without a studio, `/` says in plain text what can be asked; what is refused stays refused", async () => {
  const nothing = () => new Response("{}", { status: 404, headers: { "x-content-type-options": "nosniff" } });
  const page = startPage(new Request("http://127.0.0.1:4680/"), nothing());
  expect(page.status).toBe(200);
  expect(page.headers.get("x-content-type-options")).toBe("nosniff");
  expect(await page.text()).toContain("curl -N http://127.0.0.1:4680/api/chat");
  expect(startPage(new Request("http://127.0.0.1:4680/other"), nothing()).status).toBe(404);
  const refused = new Response("{}", { status: 421 });
  expect(startPage(new Request("http://evil.test/"), refused)).toBe(refused);
});

it("a flag goes before the environment, and that before the configuration", () => {
  const configured = { port: 1, host: "a.test" };
  expect(addressOf({}, {}, configured)).toEqual(configured);
  expect(addressOf({}, { PORT: "2", HOST: "b.test" }, configured)).toEqual({ port: 2, host: "b.test" });
  expect(addressOf({ port: "0", host: "c.test" }, { PORT: "2" }, configured)).toEqual({
    port: 0,
    host: "c.test",
  });
  for (const port of ["65536", "-1", "1.5", "x"])
    expect(() => addressOf({ port }, {})).toThrow(/--port is .* no port/);
});
