import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { plainView, type View, viewsIn } from "./views.ts";

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "graph-views-")), "views");
});
afterEach(() => rmSync(join(folder, ".."), { recursive: true }));

const blue: View = {
  ...plainView("pets"),
  layout: "grid",
  nodeColours: { cat1: "#0000ff" },
  zoomTo: ["cat1"],
};

describe("the views of sessions", () => {
  it("are kept for whoever comes next, each session's for itself", async () => {
    await viewsIn(folder).write("a", blue);
    await viewsIn(folder).write("b", plainView("miserables"));
    expect(await viewsIn(folder).read("a")).toEqual(blue);
    expect(await viewsIn(folder).read("b")).toEqual(plainView("miserables"));
    expect(await viewsIn(folder).read("c")).toBeUndefined();
  });

  it("stay in their folder, whatever a session is called", async () => {
    const views = viewsIn(folder);
    const ids = ["../../outside", "a/b", "..", "CON", "x".repeat(5000), "é\u0000"];
    for (const id of ids) await views.write(id, blue);
    for (const id of ids) expect(await views.read(id)).toEqual(blue);
    expect(readdirSync(folder)).toHaveLength(ids.length);
    expect(readdirSync(join(folder, ".."))).toEqual(["views"]);
  });

  it("are written whole or not at all, and only their owner can read them", async () => {
    const views = viewsIn(folder);
    await views.write("a", blue);
    const reading = Promise.all(Array.from({ length: 50 }, () => views.read("a")));
    for (let n = 0; n < 20; n++) await views.write("a", { ...blue, zoomTo: Array(n * 50).fill("cat1") });
    for (const view of await reading) expect(view?.graph).toBe("pets");
    const [file = "", ...others] = readdirSync(folder);
    expect(others).toEqual([]);
    if (process.platform !== "win32") expect(statSync(join(folder, file)).mode & 0o077).toBe(0);
  });

  it.each([
    "",
    "{",
    "[]",
    "null",
    '{"layout":"grid"}',
  ])("that are damaged (%j) count as none", async (text) => {
    const views = viewsIn(folder);
    await views.write("a", blue);
    writeFileSync(join(folder, readdirSync(folder)[0] ?? ""), text);
    expect(await views.read("a")).toBeUndefined();
  });

  it("with a layout that is not known have the usual one", async () => {
    const views = viewsIn(folder);
    await views.write("a", { ...blue, layout: "spiral" as "grid" });
    expect(await views.read("a")).toEqual({ ...blue, layout: "force" });
  });

  it("may be written several times at once", async () => {
    const views = viewsIn(folder);
    await Promise.all(Array.from({ length: 20 }, () => views.write("a", blue)));
    expect(await views.read("a")).toEqual(blue);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it.each([
    { nodeColours: null },
    { edgeColours: 7 },
    { zoomTo: "cat1" },
    { zoomTo: [7] },
  ])("begin anew where a file has %j in it", async (part) => {
    await viewsIn(folder).write("a", blue);
    const [file = ""] = readdirSync(folder);
    writeFileSync(join(folder, file), JSON.stringify({ ...blue, ...part }));
    expect(await viewsIn(folder).read("a")).toBeUndefined();
  });
});
