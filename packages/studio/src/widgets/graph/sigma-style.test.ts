import { describe, expect, it } from "vitest";
import type { ThemeColors } from "../theme-colors.ts";
import type { GraphProps } from "../widget-props.ts";
import { buildGraph } from "./graph-model.ts";
import { type GraphStyle, styleEdge, styleNode } from "./sigma-style.ts";

const fleet: GraphProps = {
  nodes: [{ id: "brig" }, { id: "sloop" }, { id: "ketch" }],
  edges: [
    { from: "brig", to: "sloop" },
    { from: "sloop", to: "ketch" },
  ],
};
const colours = { accent: "#accent", faint: "#faint", line: "#line", quiet: "#quiet", series: [] } as unknown;
const createStyle = (props: GraphProps): GraphStyle => ({
  graph: buildGraph(props, "circle"),
  colors: colours as ThemeColors,
  selected: "brig",
  flashing: new Set(),
});

describe("the style of a graph with a selected node", () => {
  it("highlights its edges and fades unrelated nodes", () => {
    const look = createStyle(fleet);
    const [first = "", second = ""] = look.graph.edges();
    expect([first, second].map((id) => styleEdge(look, id, {}).color)).toEqual(["#accent", "#faint"]);
    expect(styleNode(look, "ketch", { size: 1 })).toMatchObject({ color: "#line", label: null });
    expect(styleNode(look, "sloop", { size: 1, label: "sloop" })).toMatchObject({ label: "sloop" });
  });

  it("leaves edges and nodes of a replaced graph unchanged", () => {
    const look = createStyle(fleet);
    const [edge = ""] = buildGraph(fleet, "grid").edges();
    expect(styleEdge(look, edge, { label: "x" })).toMatchObject({ color: "#faint", label: "x" });
    expect(styleNode(look, "raft", { size: 1, label: "raft" })).toMatchObject({ label: "raft" });
  });
});
