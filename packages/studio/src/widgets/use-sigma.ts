import type { MultiGraph } from "graphology";
import { type RefObject, useEffect, useRef, useState } from "react";
import type Sigma from "sigma";
import type { EdgeProgramType } from "sigma/rendering";
import { edgeLook, flash, type GraphLook, hoverLook, nodeLook, zoomTo } from "./sigma-look.ts";
import { useThemeColours } from "./theme-colours.ts";
import type { GraphProps } from "./widget-props.ts";

type SigmaOptions = {
  readonly graph: MultiGraph;
  readonly props: GraphProps;
  readonly selected: string | undefined;
  readonly onSelect: (id: string | undefined) => void;
};

type SigmaView = {
  readonly place: RefObject<HTMLDivElement | null>;
  readonly state: "loading" | "drawn" | "missing";
  /** Brings nodes into the middle. */
  readonly lookAt: (ids: readonly string[]) => void;
  readonly reset: () => void;
};

/** Keeps a drawing by sigma in step with the graph, the theme and what is selected. */
export function useSigma({ graph, props, selected, onSelect }: SigmaOptions): SigmaView {
  const place = useRef<HTMLDivElement>(null);
  const sigma = useRef<Sigma | null>(null);
  const [state, setState] = useState<SigmaView["state"]>("loading");
  const colours = useThemeColours();
  const [look] = useState<GraphLook>(() => ({ graph, colours, selected, flashing: new Set() }));
  const lookAt = (ids: readonly string[]): void => {
    if (sigma.current) zoomTo(sigma.current, ids);
  };

  useEffect(() => {
    const element = place.current;
    if (!element) return;
    if (!hasWebgl()) return setState("missing");
    look.graph = graph;
    let isOver = false;
    let end: (() => void) | undefined;
    loadSigma().then(
      (modules) => {
        // Not before: a second drawing in the same place is wiped away with the first.
        if (isOver) return;
        const made = drawn(modules, { element, graph, look, onSelect });
        sigma.current = made;
        setState(made ? "drawn" : "missing");
        if (!made) return;
        zoomTo(made, props.zoomTo ?? []);
        end = flash(made, look, props.flash ?? []);
      },
      () => isOver || setState("missing"),
    );
    return () => {
      isOver = true;
      end?.();
      sigma.current?.kill();
      sigma.current = null;
    };
  }, [graph, props, look, onSelect]);

  useEffect(() => {
    Object.assign(look, { colours, selected });
    sigma.current?.setSetting("labelColor", { color: colours.ink });
    sigma.current?.refresh();
  }, [look, colours, selected]);

  return {
    place,
    state,
    lookAt,
    reset: () => void sigma.current?.getCamera().animatedReset({ duration: 120 }),
  };
}

function hasWebgl(): boolean {
  try {
    const context = document.createElement("canvas").getContext("webgl2");
    // A page may have only a few of them.
    context?.getExtension("WEBGL_lose_context")?.loseContext();
    return context !== null;
  } catch {
    return false;
  }
}

type DrawOptions = {
  readonly element: HTMLElement;
  readonly graph: MultiGraph;
  readonly look: GraphLook;
  readonly onSelect: (id: string | undefined) => void;
};

type SigmaModules = { readonly SigmaClass: typeof Sigma; readonly EdgeArrowProgram: EdgeProgramType };

async function loadSigma(): Promise<SigmaModules> {
  const [{ default: SigmaClass }, { EdgeArrowProgram }] = await Promise.all([
    import("sigma"),
    import("sigma/rendering"),
  ]);
  return { SigmaClass, EdgeArrowProgram };
}

/** WebGL can also be refused here, when too much of it is in use: then the list is what is left. */
function drawn(modules: SigmaModules, options: DrawOptions): Sigma | null {
  try {
    return draw(modules, options);
  } catch {
    return null;
  }
}

function draw(
  { SigmaClass, EdgeArrowProgram }: SigmaModules,
  { element, graph, look, onSelect }: DrawOptions,
): Sigma {
  const isDirected = graph.type === "directed";
  const sigma = new SigmaClass(graph, element, {
    labelFont: '"Inter Variable", system-ui, sans-serif',
    labelSize: 12,
    labelColor: { color: look.colours.ink },
    labelRenderedSizeThreshold: graph.order > 120 ? 9 : 5,
    labelDensity: graph.order > 60 ? 1 : 8,
    renderEdgeLabels: graph.size <= 60,
    edgeLabelSize: 10,
    edgeLabelColor: { color: look.colours.quiet },
    stagePadding: 60,
    zIndex: true,
    allowInvalidContainer: true,
    defaultEdgeType: isDirected ? "arrow" : "line",
    edgeProgramClasses: { ...(isDirected && { arrow: EdgeArrowProgram }) },
    defaultDrawNodeHover: hoverLook(look),
    nodeReducer: (id, data) => nodeLook(look, id, data),
    edgeReducer: (id, data) => edgeLook(look, id, data),
  });
  sigma.on("clickNode", ({ node }) => onSelect(node));
  sigma.on("clickStage", () => onSelect(undefined));
  return sigma;
}
