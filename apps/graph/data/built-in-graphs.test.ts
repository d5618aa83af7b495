import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { countTypes, getName, type Network } from "../network.ts";
import { createMiserablesGraph } from "./miserables.ts";
import { hasSources, packagesFolder, readModuleGraph } from "./module-graph.ts";
import { pets } from "./pets.ts";

function expectSound({ nodes, edges }: Network): void {
  const ids = new Set(nodes.map(({ id }) => id));
  expect(ids.size).toBe(nodes.length);
  expect(new Set(edges.map(({ id }) => id)).size).toBe(edges.length);
  for (const { from, to } of edges)
    expect([from, ids.has(from), to, ids.has(to)]).toEqual([from, true, to, true]);
}

describe("the pets", () => {
  it("are 20 nodes with three cats, humans and no dogs", () => {
    expectSound(pets);
    expect([pets.nodes.length, pets.edges.length]).toEqual([20, 30]);
    expect(pets.nodes.slice(0, 3).map((node) => [node.id, getName(node), node.data.breed])).toEqual([
      ["cat1", "Whiskers", "tabby"],
      ["cat2", "Mittens", "persian"],
      ["cat3", "Shadow", "siamese"],
    ]);
    expect(countTypes(pets.nodes).map(({ type }) => type)).toEqual(["human", "house", "toy", "cat", "food"]);
  });
});

describe("Les Misérables", () => {
  it("has 77 characters and 254 edges", () => {
    const network = createMiserablesGraph();
    expectSound(network);
    expect([network.nodes.length, network.edges.length]).toEqual([77, 254]);
    expect(network.nodes[11]).toEqual({ id: "p11", data: { type: "group 2", name: "Valjean", group: 2 } });
  });
});

describe("the module graph", () => {
  it("is read from the sources of this project and stays small", async () => {
    const network = await readModuleGraph(packagesFolder);
    expectSound(network);
    expect(network.nodes.length).toBeLessThan(150);
    expect(network.edges.find(({ from, to }) => from === "server/routes" && to === "capstan")).toBeDefined();
    expect(network.nodes.find(({ id }) => id === "capstan/models")?.data).toMatchObject({ type: "capstan" });
  });

  it("groups files by folder, resolves packages by their manifests, and skips tests", async () => {
    const folder = mkdtempSync(join(tmpdir(), "graph-modules-"));
    const write = (path: string, text: string) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    };
    write("core/package.json", '{"name":"core","exports":{"./net":{"capstan-source":"./src/net/index.ts"}}}');
    write("core/src/main.ts", 'import { a } from "./net/index.ts";\nimport "./other.ts";');
    write("core/src/other.ts", 'export { a } from "./net/index.ts";');
    write(
      "core/src/net/index.ts",
      'import { readFile } from "node:fs";\nexport const a = () => import("./b.ts");',
    );
    write("core/src/net/b.ts", "");
    write("core/src/net/b.test.ts", 'import "../main.ts";');
    write("web/src/page.tsx", 'import { a } from "core/net";');
    try {
      const { nodes, edges } = await readModuleGraph(folder);
      expect(nodes.map(({ id, data }) => [id, data.files])).toEqual([
        ["core", 2],
        ["core/net", 2],
        ["web", 1],
      ]);
      expect(edges.map(({ from, to, data }) => [from, to, data.imports])).toEqual([
        ["core", "core/net", 2],
        ["web", "core/net", 1],
      ]);
      expect(hasSources(folder)).toBe(false);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("stops when the signal aborts (S2-54)", async () => {
    await expect(readModuleGraph(packagesFolder, AbortSignal.abort())).rejects.toThrow(/abort/i);
  });
});
