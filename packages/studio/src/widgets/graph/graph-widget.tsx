import { Maximize } from "lucide-react";
import { type ReactNode, useContext, useState } from "react";
import { IconButton } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { escapeBidi } from "../../ui/escape-text.ts";
import { getSeriesVariable } from "../theme-colors.ts";
import { Choice, TextAlternative, WidgetFrame, WidgetRoom } from "../widget-frame.tsx";
import type { GraphProps } from "../widget-props.ts";
import { buildGraph, countTypes, type LayoutName } from "./graph-model.ts";
import { GraphText } from "./graph-text.tsx";
import { type GraphDrawing, redrawGraph } from "./redraw-graph.ts";
import { useSigma } from "./use-sigma.ts";

const layouts = [
  { value: "force", name: "Force" },
  { value: "circle", name: "Circle" },
  { value: "grid", name: "Grid" },
] as const;

/** A graph drawn with WebGL, with a list as fallback and text alternative. */
export function GraphWidget(props: GraphProps): ReactNode {
  const { title, nodes, edges } = props;
  const [drawing, setDrawing] = useState<GraphDrawing>(() => redrawGraph(undefined, props));
  if (drawing.props !== props) setDrawing(redrawGraph(drawing, props));
  const { layout, graph } = drawing;
  const setLayout = (next: LayoutName) =>
    setDrawing({ ...drawing, layout: next, graph: buildGraph(props, next) });
  const [selected, setSelected] = useState<string | undefined>();
  const { container, state, zoomToNodes, reset } = useSigma({ ...drawing, selected, onSelect: setSelected });
  const room = useContext(WidgetRoom);
  const types = countTypes(nodes);
  const changeLabel = drawing.isChange ? "changed" : "marked";
  const changed = drawing.changed.length === 0 ? "" : `, ${drawing.changed.length} ${changeLabel}`;
  const selectAndZoom = (id: string): void => {
    setSelected(id);
    zoomToNodes([id]);
  };
  return (
    <WidgetFrame
      label="Graph"
      title={title}
      note={`${nodes.length} nodes, ${edges.length} edges${changed}`}
      tools={
        state !== "missing" && (
          <>
            <Choice label="Layout" options={layouts} value={layout} onChoose={setLayout} />
            <IconButton label="Show all" onClick={reset}>
              <Maximize size={14} />
            </IconButton>
          </>
        )
      }
    >
      {types.length > 0 && (
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
      )}
      {state === "missing" ? (
        <div className="px-3 py-2 text-sm">
          <p className="pb-2 text-quiet">WebGL is not available. The graph is shown as a list.</p>
          <div className="max-h-96 overflow-y-auto">
            <GraphText graph={graph} selected={selected} onSelect={setSelected} />
          </div>
        </div>
      ) : (
        <>
          <div
            ref={container}
            aria-hidden="true"
            className={classNames(
              "relative w-full touch-pan-y",
              room === "panel" ? "min-h-48 flex-1" : "h-[24rem]",
            )}
          />
          <TextAlternative summary="Nodes and edges as a list">
            <GraphText graph={graph} selected={selected} onSelect={selectAndZoom} />
          </TextAlternative>
        </>
      )}
    </WidgetFrame>
  );
}
