import { Maximize } from "lucide-react";
import { type ReactNode, useContext, useState } from "react";
import { steadyText } from "../../markdown/visible-text.ts";
import { IconButton } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { seriesVariable } from "../theme-colors.ts";
import { Choice, TextAlternative, WidgetFrame, WidgetRoom } from "../widget-frame.tsx";
import type { GraphProps } from "../widget-props.ts";
import { graphOf, type LayoutName, typesOf } from "./graph-model.ts";
import { GraphInWords } from "./graph-text.tsx";
import { type RedrawnGraph, redrawnGraph } from "./redraw-graph.ts";
import { useSigma } from "./use-sigma.ts";

const layouts = [
  { value: "force", name: "Force" },
  { value: "circle", name: "Circle" },
  { value: "grid", name: "Grid" },
] as const;

/** Nodes and edges, drawn with WebGL; where there is none, and for those who read, as a list. */
export function GraphWidget(props: GraphProps): ReactNode {
  const { title, nodes, edges } = props;
  const [drawn, setDrawn] = useState<RedrawnGraph>(() => redrawnGraph(undefined, props));
  if (drawn.props !== props) setDrawn(redrawnGraph(drawn, props));
  const { layout, graph } = drawn;
  const setLayout = (next: LayoutName) => setDrawn({ ...drawn, layout: next, graph: graphOf(props, next) });
  const [selected, setSelected] = useState<string | undefined>();
  const { place, state, lookAt, reset } = useSigma({ ...drawn, selected, onSelect: setSelected });
  const room = useContext(WidgetRoom);
  const types = typesOf(nodes);
  const word = drawn.isChange ? "changed" : "marked";
  const changed = drawn.changed.length === 0 ? "" : `, ${drawn.changed.length} ${word}`;
  const look = (id: string): void => {
    setSelected(id);
    lookAt([id]);
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
                style={{ background: color ?? seriesVariable(index) }}
              />
              {steadyText(type)} <span className="text-faint tabular-nums">{count}</span>
            </li>
          ))}
        </ul>
      )}
      {state === "missing" ? (
        <div className="px-3 py-2 text-sm">
          <p className="pb-2 text-quiet">This browser has no WebGL, so the graph is shown as a list.</p>
          <div className="max-h-96 overflow-y-auto">
            <GraphInWords graph={graph} selected={selected} onSelect={setSelected} />
          </div>
        </div>
      ) : (
        <>
          <div
            ref={place}
            aria-hidden="true"
            className={classNames(
              "relative w-full touch-pan-y",
              room === "panel" ? "min-h-48 flex-1" : "h-[24rem]",
            )}
          />
          <TextAlternative summary="Nodes and edges as a list">
            <GraphInWords graph={graph} selected={selected} onSelect={look} />
          </TextAlternative>
        </>
      )}
    </WidgetFrame>
  );
}
