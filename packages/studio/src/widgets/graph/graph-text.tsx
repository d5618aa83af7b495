import type { MultiGraph } from "graphology";
import type { ReactNode } from "react";

type GraphTextProps = {
  readonly graph: MultiGraph;
  readonly selected: string | undefined;
  readonly onSelect: (id: string) => void;
};

const maxNodes = 500;
const maxNeighbors = 20;

/** List of nodes with their types and neighbors. */
export function GraphText({ graph, selected, onSelect }: GraphTextProps): ReactNode {
  const nodes = graph.nodes();
  return (
    <>
      <ul>
        {nodes.slice(0, maxNodes).map((id) => (
          <li key={id} className="py-0.5">
            <button
              type="button"
              aria-pressed={id === selected}
              onClick={() => onSelect(id)}
              className="text-left text-accent underline decoration-accent/40 underline-offset-2 aria-pressed:font-semibold"
            >
              {String(graph.getNodeAttribute(id, "label"))}
            </button>
            <span className="text-quiet">{describeNode(graph, id)}</span>
          </li>
        ))}
      </ul>
      {nodes.length > maxNodes && <p className="pt-2 text-faint">{nodes.length - maxNodes} more nodes.</p>}
    </>
  );
}

function describeNode(graph: MultiGraph, id: string): string {
  const type = String(graph.getNodeAttribute(id, "kindName"));
  const neighbors = graph.neighbors(id);
  const names = neighbors
    .slice(0, maxNeighbors)
    .map((other) => String(graph.getNodeAttribute(other, "label")));
  const more = neighbors.length - names.length;
  const connections =
    names.length === 0
      ? "no edges"
      : `connected to ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return `${type === "" ? "" : ` (${type})`}: ${connections}`;
}
