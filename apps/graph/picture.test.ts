import { describe, expect, it } from "vitest";
import { createMiserablesGraph } from "./data/miserables.ts";
import { pets } from "./data/pets.ts";
import type { Network } from "./network.ts";
import { createPicture } from "./picture.ts";
import { createView } from "./view.ts";

const large: Network = {
  name: "large",
  title: "Large",
  isDirected: false,
  nodes: Array.from({ length: 3000 }, (_, n) => ({
    id: `node-${n}`,
    data: { type: "person", name: `Person ${n}` },
  })),
  edges: Array.from({ length: 6000 }, (_, n) => ({
    id: `e${n}`,
    from: `node-${n % 100}`,
    to: `node-${(n * 7) % 3000}`,
    data: { type: "knows" },
  })),
};

const wordy: Network = {
  ...large,
  nodes: large.nodes.map(({ id, data }) => ({
    id: `https://example.test/people/${id}`,
    data: { ...data, name: "x".repeat(500) },
  })),
  edges: large.edges.map((edge) => ({
    ...edge,
    from: `https://example.test/people/${edge.from}`,
    to: `https://example.test/people/${edge.to}`,
  })),
};

describe("the picture", () => {
  it("has the names, types, colors and layout of the session's view (S2-57)", () => {
    const view = {
      ...createView("pets"),
      nodeColours: { cat1: "#0000ff" },
      edgeColours: { edge1: "#ff0000" },
    };
    const { kind, props } = createPicture(pets, view, { flash: ["cat1"], replies: ["Zoom out"] });
    expect(kind).toBe("graph");
    expect(props).toMatchObject({
      title: "Cats and their people (fictional)",
      layout: "force",
      isDirected: true,
      flash: ["cat1"],
      replies: ["Zoom out"],
    });
    const { nodes, edges } = props as unknown as { nodes: object[]; edges: object[] };
    expect(nodes[0]).toEqual({ id: "cat1", label: "Whiskers", type: "cat", color: "#0000ff" });
    expect(nodes[1]).toEqual({ id: "cat2", label: "Mittens", type: "cat" });
    expect(edges[0]).toEqual({ from: "human1", to: "cat1", label: "owner_of", color: "#ff0000" });
  });

  it.each<[string, Network]>([
    ["pets", pets],
    ["Les Misérables", createMiserablesGraph()],
    ["thousands of nodes", large],
    ["long names", wordy],
  ])("of %s stays small: it is stored with each result", (_, network) => {
    const everything = network.nodes.map(({ id }) => id);
    const nodeColours = Object.fromEntries(everything.map((id) => [id, "#0000ff"]));
    const ui = createPicture(
      network,
      { ...createView(network.name), nodeColours, zoomTo: everything },
      { flash: everything },
    );
    expect(JSON.stringify(ui).length).toBeLessThan(40_000);
  });

  it("of a large graph states how much is shown, and includes the requested nodes", () => {
    const { props } = createPicture(large, createView("large"), { flash: ["node-2999"] });
    expect(props).toMatchObject({
      title: "Large (250 of 3000 nodes, 500 of 6000 edges)",
      flash: ["node-2999"],
    });
    expect(JSON.stringify(props)).toContain('"label":"Person 2999"');
  });
});
