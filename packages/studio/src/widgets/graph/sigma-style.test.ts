import { describe, expect, it } from "vitest";
import type { ThemeColours } from "../theme-colors.ts";
import type { GraphProps } from "../widget-props.ts";
import { graphOf } from "./graph-model.ts";
import { edgeLook, type GraphLook, nodeLook } from "./sigma-style.ts";

const fleet: GraphProps = {
  nodes: [{ id: "brig" }, { id: "sloop" }, { id: "ketch" }],
  edges: [
    { from: "brig", to: "sloop" },
    { from: "sloop", to: "ketch" },
  ],
};
const colours = { accent: "#accent", faint: "#faint", line: "#line", quiet: "#quiet", series: [] } as unknown;
const lookOf = (props: GraphProps): GraphLook => ({
  graph: graphOf(props, "circle"),
  colours: colours as ThemeColours,
  selected: "brig",
  flashing: new Set(),
});

describe("the look of a graph with a selected node", () => {
  it("lets its edges stand out, and what is not joined to it fade", () => {
    const look = lookOf(fleet);
    const [first = "", second = ""] = look.graph.edges();
    expect([first, second].map((id) => edgeLook(look, id, {}).color)).toEqual(["#accent", "#faint"]);
    expect(nodeLook(look, "ketch", { size: 1 })).toMatchObject({ color: "#line", label: null });
    expect(nodeLook(look, "sloop", { size: 1, label: "sloop" })).toMatchObject({ label: "sloop" });
  });

  it("takes an edge and a node of a graph that is gone as they are", () => {
    const look = lookOf(fleet);
    const [edge = ""] = graphOf(fleet, "grid").edges();
    expect(edgeLook(look, edge, { label: "x" })).toMatchObject({ color: "#faint", label: "x" });
    expect(nodeLook(look, "raft", { size: 1, label: "raft" })).toMatchObject({ label: "raft" });
  });
});
