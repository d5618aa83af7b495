import { describe, expect, it } from "vitest";
import type { GraphProps } from "../widget-props.ts";
import type { GraphModel } from "./graph-model.ts";
import { redrawGraph } from "./redraw-graph.ts";

const names = ["a", "b", "c", "d", "e"];
const createPets = (change: Partial<GraphProps> = {}): GraphProps => ({
  nodes: names.map((id) => ({ id })),
  edges: names.slice(1).map((from) => ({ from, to: "a" })),
  ...change,
});

const getPositions = ({ nodes }: GraphModel) =>
  Object.fromEntries([...nodes].map(([id, { x, y }]) => [id, [x, y] as const]));

describe("a redrawn graph", () => {
  const first = redrawGraph(undefined, createPets());

  it("keeps positions and lists changed nodes", () => {
    const nodes = names.map((id) => ({ id, ...(id < "c" && { color: "#0000ff" }) }));
    const next = redrawGraph(first, createPets({ nodes }));
    expect([first.changed, next.changed]).toEqual([[], ["a", "b"]]);
    expect(getPositions(next.graph)).toEqual(getPositions(first.graph));
    expect(next.graph.nodes.get("a")?.color).toBe("#0000ff");
    expect(redrawGraph(first, createPets({ nodes, flash: ["e"] })).changed).toEqual(["e"]);
  });

  it("distinguishes changed nodes from highlighted nodes", () => {
    const blue = names.map((id) => ({ id, ...(id < "c" && { color: "#0000ff" }) }));
    const isChange = (before: typeof first | undefined, props: GraphProps) =>
      redrawGraph(before, props).isChange;
    expect(isChange(first, createPets({ nodes: blue, flash: ["a", "b"] }))).toBe(true);
    expect(isChange(first, createPets({ flash: ["a", "b"] }))).toBe(false);
    expect(isChange(undefined, createPets({ nodes: blue, flash: ["a", "b"] }))).toBe(true);
    expect(isChange(undefined, createPets({ nodes: blue, flash: ["a", "e"] }))).toBe(false);
  });

  it("places a new node near its neighbors", () => {
    const nodes = [...names, "f"].map((id) => ({ id }));
    const next = redrawGraph(
      first,
      createPets({ nodes, edges: [...createPets().edges, { from: "f", to: "b" }] }),
    );
    const { f, ...others } = getPositions(next.graph);
    const [b, far] = [others.b, Object.values(others)];
    const distance = (to: readonly [number, number]) =>
      Math.hypot(to[0] - (f?.[0] ?? 0), to[1] - (f?.[1] ?? 0));
    expect(distance(b ?? [0, 0])).toBeCloseTo(Math.min(...far.map(distance)));
    expect(next.changed).toEqual(["f"]);
  });

  it("is laid out again when it is a different graph, and nothing flashes", () => {
    const next = redrawGraph(first, { nodes: [{ id: "x" }, { id: "y" }], edges: [] });
    expect(next.changed).toEqual([]);
    expect(next.graph.nodes.size).toBe(2);
  });

  it("keeps the user's layout until a tool requests another", () => {
    const chosen = { ...first, layout: "circle" as const };
    expect(redrawGraph(chosen, createPets()).layout).toBe("circle");
    expect(redrawGraph(chosen, createPets({ layout: "grid" })).layout).toBe("grid");
  });
});
