import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createView, type View } from "./view.ts";
import { openViews } from "./views.ts";

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "graph-views-")), "views");
});
afterEach(() => rmSync(join(folder, ".."), { recursive: true }));

const blue: View = {
  ...createView("pets"),
  layout: "grid",
  nodeColours: { cat1: "#0000ff" },
  zoomTo: ["cat1"],
};

describe("the views of sessions", () => {
  it("persist separately for each session", async () => {
    await openViews(folder).write("a", blue);
    await openViews(folder).write("b", createView("miserables"));
    expect(await openViews(folder).read("a")).toEqual(blue);
    expect(await openViews(folder).read("b")).toEqual(createView("miserables"));
    expect(await openViews(folder).read("c")).toBeUndefined();
  });

  it("stay in their folder, whatever the session id", async () => {
    const views = openViews(folder);
    const ids = ["../../outside", "a/b", "..", "CON", "x".repeat(5000), "é\u0000"];
    for (const id of ids) await views.write(id, blue);
    for (const id of ids) expect(await views.read(id)).toEqual(blue);
    expect(readdirSync(folder)).toHaveLength(ids.length);
    expect(readdirSync(join(folder, ".."))).toEqual(["views"]);
  });

  it("are written atomically and readable only by the owner", async () => {
    const views = openViews(folder);
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
    const views = openViews(folder);
    await views.write("a", blue);
    writeFileSync(join(folder, readdirSync(folder)[0] ?? ""), text);
    expect(await views.read("a")).toBeUndefined();
  });

  it("fall back to the default layout if it is unknown", async () => {
    const views = openViews(folder);
    await views.write("a", { ...blue, layout: "spiral" as "grid" });
    expect(await views.read("a")).toEqual({ ...blue, layout: "force" });
  });

  it("can be written concurrently", async () => {
    const views = openViews(folder);
    await Promise.all(Array.from({ length: 20 }, () => views.write("a", blue)));
    expect(await views.read("a")).toEqual(blue);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it.each([
    { nodeColours: null },
    { edgeColours: 7 },
    { zoomTo: "cat1" },
    { zoomTo: [7] },
  ])("start over if the file contains %j", async (part) => {
    await openViews(folder).write("a", blue);
    const [file = ""] = readdirSync(folder);
    writeFileSync(join(folder, file), JSON.stringify({ ...blue, ...part }));
    expect(await openViews(folder).read("a")).toBeUndefined();
  });
});
