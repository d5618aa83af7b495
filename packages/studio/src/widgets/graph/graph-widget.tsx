import { formatCount } from "capstan/sessions";
import { Maximize } from "lucide-react";
import { type PointerEvent, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from "react";
import { IconButton } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { escapeBidi } from "../../ui/escape-text.ts";
import { usePanZoom, type View } from "../drawing/use-pan-zoom.ts";
import { useSize } from "../drawing/use-size.ts";
import { getSeriesVariable } from "../theme-colors.ts";
import { Choice, TextAlternative, WidgetFrame, WidgetRoom } from "../widget-frame.tsx";
import type { GraphProps } from "../widget-props.ts";
import { arrangeGraph, type PlacedNode } from "./arrange-graph.ts";
import { GraphDrawing } from "./graph-drawing.tsx";
import { buildGraph, countTypes, type LayoutName } from "./graph-model.ts";
import { GraphText } from "./graph-text.tsx";
import { type GraphState, redrawGraph } from "./redraw-graph.ts";

const layouts = [
  { value: "force", name: "Force" },
  { value: "circle", name: "Circle" },
  { value: "grid", name: "Grid" },
] as const;

/** A graph that fills its place, with a list as text alternative. */
export function GraphWidget(props: GraphProps): ReactNode {
  const { title, nodes, edges } = props;
  const [drawn, setDrawn] = useState<GraphState>(() => redrawGraph(undefined, props));
  if (drawn.props !== props) setDrawn(redrawGraph(drawn, props));
  const { layout, graph } = drawn;
  const setLayout = (next: LayoutName) =>
    setDrawn({ ...drawn, layout: next, graph: buildGraph(props, next) });
  const [selected, setSelected] = useState<string | undefined>();
  const [hovered, setHovered] = useState<string | undefined>();
  const container = useRef<HTMLDivElement>(null);
  const size = useSize(container);
  const placed = useMemo(() => arrangeGraph(graph, size), [graph, size]);
  const { view, reset, zoomTo, handlers } = usePanZoom(container, size);
  const fitNodes = (ids: readonly string[]): void => zoomTo(ids.flatMap((id) => placed.get(id) ?? []));
  // biome-ignore lint/correctness/useExhaustiveDependencies: moves the view once for each request
  useEffect(() => fitNodes(props.zoomTo ?? []), [props, size]);
  const isPanel = useContext(WidgetRoom) === "panel";
  const changeLabel = drawn.isChange ? "changed" : "marked";
  const changed = drawn.changed.length === 0 ? "" : `, ${drawn.changed.length} ${changeLabel}`;
  const pointer = usePointer(placed, view, { onHover: setHovered, onSelect: setSelected });
  return (
    <WidgetFrame
      label="Graph"
      title={title}
      note={`${formatCount(nodes.length, "node")}, ${formatCount(edges.length, "edge")}${changed}`}
      tools={
        <>
          <Choice label="Layout" options={layouts} value={layout} onChoose={setLayout} />
          <IconButton label="Show all" onClick={reset}>
            <Maximize size={14} />
          </IconButton>
        </>
      }
    >
      <Legend nodes={nodes} />
      <div
        ref={container}
        role="application"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys pan the graph
        tabIndex={0}
        aria-label="Graph. Arrow keys pan, plus and minus zoom, 0 shows all. The list below has all nodes."
        className={classNames(
          "w-full touch-pan-y select-none overflow-hidden focus-visible:-outline-offset-2",
          hovered === undefined ? "cursor-grab active:cursor-grabbing" : "cursor-pointer",
          isPanel ? "min-h-48 flex-1" : "h-[24rem]",
        )}
        {...handlers}
        {...pointer}
        onPointerMove={(event) => {
          handlers.onPointerMove(event);
          pointer.onPointerMove(event);
        }}
      >
        <GraphDrawing {...{ graph, placed, view, size, selected, hovered }} changed={drawn.changed} />
      </div>
      <TextAlternative summary="Nodes and edges as a list">
        <GraphText
          graph={graph}
          selected={selected}
          onSelect={(id) => {
            setSelected(id);
            fitNodes([id]);
          }}
        />
      </TextAlternative>
    </WidgetFrame>
  );
}

function Legend({ nodes }: Pick<GraphProps, "nodes">): ReactNode {
  const types = countTypes(nodes);
  if (types.length === 0) return null;
  return (
    <ul aria-label="Types" className="flex flex-wrap gap-x-4 gap-y-1 px-3 pt-2 text-quiet text-xs">
      {types.map(({ type, count, color }, index) => (
        <li key={type} className="flex items-center gap-1.5">
          <span
            aria-hidden="true"
            className="size-2.5 rounded-full"
            style={{ background: color ?? getSeriesVariable(index) }}
          />
          {escapeBidi(type)} <span className="text-faint tabular-nums">{count}</span>
        </li>
      ))}
    </ul>
  );
}

type PointerActions = {
  readonly onHover: (id: string | undefined) => void;
  readonly onSelect: (id: string | undefined) => void;
};

type PointerHandlers = {
  readonly onPointerMove: (event: PointerEvent) => void;
  readonly onPointerLeave: () => void;
  readonly onPointerDownCapture: (event: PointerEvent) => void;
  readonly onPointerUpCapture: (event: PointerEvent) => void;
};

/** Fingers are less exact than a mouse. */
const reach = { mouse: 8, touch: 22 } as const;
const maxClickMove = 5;

/** Finds the node under the pointer. A click that did not drag selects it, or nothing. */
function usePointer(
  placed: ReadonlyMap<string, PlacedNode>,
  view: View,
  { onHover, onSelect }: PointerActions,
): PointerHandlers {
  const start = useRef({ x: 0, y: 0 });
  const find = (event: PointerEvent): string | undefined => {
    const box = event.currentTarget.getBoundingClientRect();
    const at = { x: event.clientX - box.left, y: event.clientY - box.top };
    const margin = event.pointerType === "mouse" ? reach.mouse : reach.touch;
    let [nearest, best] = [undefined as string | undefined, Number.POSITIVE_INFINITY];
    for (const [id, { node, x, y }] of placed) {
      const distance =
        Math.hypot(x * view.scale + view.x - at.x, y * view.scale + view.y - at.y) - node.radius;
      if (distance < Math.min(best, margin)) [nearest, best] = [id, distance];
    }
    return nearest;
  };
  return {
    onPointerMove: (event) => onHover(event.pointerType === "mouse" ? find(event) : undefined),
    onPointerLeave: () => onHover(undefined),
    onPointerDownCapture: (event) => {
      start.current = { x: event.clientX, y: event.clientY };
    },
    onPointerUpCapture: (event) => {
      const { x, y } = start.current;
      if (event.button === 0 && Math.hypot(event.clientX - x, event.clientY - y) <= maxClickMove)
        onSelect(find(event));
    },
  };
}
