import type { ReactNode } from "react";
import type { GraphModel, ModelNode } from "./graph-model.ts";

type GraphTextProps = {
  readonly graph: GraphModel;
  readonly selected: string | undefined;
  readonly onSelect: (id: string) => void;
};

const maxNodes = 500;
const maxNeighbors = 20;

/** List of nodes with their types and neighbors. */
export function GraphText({ graph, selected, onSelect }: GraphTextProps): ReactNode {
  const nodes = [...graph.nodes.values()];
  return (
    <>
      <ul>
        {nodes.slice(0, maxNodes).map((node) => (
          <li key={node.id} className="py-0.5">
            <button
              type="button"
              aria-pressed={node.id === selected}
              onClick={() => onSelect(node.id)}
              className="text-left text-accent underline decoration-accent/40 underline-offset-2 aria-pressed:font-semibold"
            >
              {node.label}
            </button>
            <span className="text-quiet">{describeNode(graph, node)}</span>
          </li>
        ))}
      </ul>
      {nodes.length > maxNodes && <p className="pt-2 text-faint">{nodes.length - maxNodes} more nodes.</p>}
    </>
  );
}

function describeNode(graph: GraphModel, { id, kindName }: ModelNode): string {
  const neighbors = [...(graph.neighbors.get(id) ?? [])];
  const names = neighbors.slice(0, maxNeighbors).map((other) => graph.nodes.get(other)?.label ?? other);
  const more = neighbors.length - names.length;
  const connections =
    names.length === 0
      ? "no edges"
      : `connected to ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return `${kindName === "" ? "" : ` (${kindName})`}: ${connections}`;
}
