import type { MultiGraph } from "graphology";
import { describe, expect, it } from "vitest";
import type { GraphProps } from "../widget-props.ts";
import { redrawnGraph } from "./redraw-graph.ts";

const names = ["a", "b", "c", "d", "e"];
const pets = (change: Partial<GraphProps> = {}): GraphProps => ({
  nodes: names.map((id) => ({ id })),
  edges: names.slice(1).map((from) => ({ from, to: "a" })),
  ...change,
});

const placesIn = (graph: MultiGraph) =>
  Object.fromEntries(graph.mapNodes((id, { x, y }) => [id, [x, y] as const]));

describe("a graph that takes the place of another", () => {
  const first = redrawnGraph(undefined, pets());

  it("keeps what is where it was, and says which nodes have changed", () => {
    const nodes = names.map((id) => ({ id, ...(id < "c" && { color: "#0000ff" }) }));
    const next = redrawnGraph(first, pets({ nodes }));
    expect([first.changed, next.changed]).toEqual([[], ["a", "b"]]);
    expect(placesIn(next.graph)).toEqual(placesIn(first.graph));
    expect(next.graph.getNodeAttribute("a", "given")).toBe("#0000ff");
    expect(redrawnGraph(first, pets({ nodes, flash: ["e"] })).changed).toEqual(["e"]);
  });

  it("tells what looks different from what an answer is about", () => {
    const blue = names.map((id) => ({ id, ...(id < "c" && { color: "#0000ff" }) }));
    const isChange = (before: typeof first | undefined, props: GraphProps) =>
      redrawnGraph(before, props).isChange;
    expect(isChange(first, pets({ nodes: blue, flash: ["a", "b"] }))).toBe(true);
    expect(isChange(first, pets({ flash: ["a", "b"] }))).toBe(false);
    expect(isChange(undefined, pets({ nodes: blue, flash: ["a", "b"] }))).toBe(true);
    expect(isChange(undefined, pets({ nodes: blue, flash: ["a", "e"] }))).toBe(false);
  });

  it("puts a new node beside those that it is joined to", () => {
    const nodes = [...names, "f"].map((id) => ({ id }));
    const next = redrawnGraph(first, pets({ nodes, edges: [...pets().edges, { from: "f", to: "b" }] }));
    const { f, ...others } = placesIn(next.graph);
    const [b, far] = [others.b, Object.values(others)];
    const distance = (to: readonly [number, number]) =>
      Math.hypot(to[0] - (f?.[0] ?? 0), to[1] - (f?.[1] ?? 0));
    expect(distance(b ?? [0, 0])).toBeCloseTo(Math.min(...far.map(distance)));
    expect(next.changed).toEqual(["f"]);
  });

  it("is laid out anew when it is another graph, and nothing of it flashes", () => {
    const next = redrawnGraph(first, { nodes: [{ id: "x" }, { id: "y" }], edges: [] });
    expect(next.changed).toEqual([]);
    expect(next.graph.order).toBe(2);
  });

  it("has the layout that the person has chosen, until a tool asks for another", () => {
    const chosen = { ...first, layout: "circle" as const };
    expect(redrawnGraph(chosen, pets()).layout).toBe("circle");
    expect(redrawnGraph(chosen, pets({ layout: "grid" })).layout).toBe("grid");
  });
});
