import type { MultiGraph } from "graphology";
import type { ReactNode } from "react";

type GraphInWordsProps = {
  readonly graph: MultiGraph;
  readonly selected: string | undefined;
  readonly onSelect: (id: string) => void;
};

const mostNodes = 500;
const mostNeighbours = 20;

/** Every node with what it is and what it is joined to. */
export function GraphInWords({ graph, selected, onSelect }: GraphInWordsProps): ReactNode {
  const nodes = graph.nodes();
  return (
    <>
      <ul>
        {nodes.slice(0, mostNodes).map((id) => (
          <li key={id} className="py-0.5">
            <button
              type="button"
              aria-pressed={id === selected}
              onClick={() => onSelect(id)}
              className="text-left text-accent underline decoration-accent/40 underline-offset-2 aria-pressed:font-semibold"
            >
              {String(graph.getNodeAttribute(id, "label"))}
            </button>
            <span className="text-quiet">{aboutNode(graph, id)}</span>
          </li>
        ))}
      </ul>
      {nodes.length > mostNodes && <p className="pt-2 text-faint">{nodes.length - mostNodes} nodes more.</p>}
    </>
  );
}

function aboutNode(graph: MultiGraph, id: string): string {
  const type = String(graph.getNodeAttribute(id, "kindName"));
  const neighbours = graph.neighbors(id);
  const names = neighbours
    .slice(0, mostNeighbours)
    .map((other) => String(graph.getNodeAttribute(other, "label")));
  const more = neighbours.length - names.length;
  const joined =
    names.length === 0 ? "no edges" : `joined to ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return `${type === "" ? "" : ` (${type})`}: ${joined}`;
}
