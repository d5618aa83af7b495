import type { MultiGraph } from "graphology";
import { type RefObject, useEffect, useRef, useState } from "react";
import type Sigma from "sigma";
import type { EdgeProgramType } from "sigma/rendering";
import type { Settings } from "sigma/settings";
import { useThemeColours } from "../theme-colors.ts";
import type { GraphProps } from "../widget-props.ts";
import { edgeLook, flash, type GraphLook, hoverLook, labelLook, nodeLook, zoomTo } from "./sigma-style.ts";

type SigmaOptions = {
  readonly graph: MultiGraph;
  readonly props: GraphProps;
  /** Ids of nodes that flash. */
  readonly changed: readonly string[];
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
export function useSigma({ graph, props, changed, selected, onSelect }: SigmaOptions): SigmaView {
  const place = useRef<HTMLDivElement>(null);
  const colours = useThemeColours();
  const [look] = useState<GraphLook>(() => ({ graph, colours, selected, flashing: new Set() }));
  const { sigma, state } = useDrawing(place, { look, isDirected: graph.type === "directed", onSelect });
  const lookAt = (ids: readonly string[]): void => {
    if (sigma.current) zoomTo(sigma.current, ids);
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: the state says that there is a drawing
  useEffect(() => {
    look.graph = graph;
    const { current } = sigma;
    if (!current) return;
    if (current.getGraph() !== graph) {
      // Before anything else that draws: the look is already that of the new one.
      current.setGraph(graph);
      current.setSettings(labelSettings(graph));
    }
    zoomTo(current, props.zoomTo ?? []);
    look.endFlash = flash(current, look, changed);
    return look.endFlash;
  }, [graph, props, changed, look, sigma, state]);

  useEffect(() => {
    Object.assign(look, { colours, selected });
    sigma.current?.setSetting("labelColor", { color: colours.ink });
    sigma.current?.refresh();
  }, [look, colours, selected, sigma]);

  return {
    place,
    state,
    lookAt,
    reset: () => void sigma.current?.getCamera().animatedReset({ duration: 120 }),
  };
}

type DrawingOptions = {
  readonly look: GraphLook;
  readonly isDirected: boolean;
  readonly onSelect: (id: string | undefined) => void;
};

type Drawing = { readonly sigma: RefObject<Sigma | null>; readonly state: SigmaView["state"] };

/** One drawing as long as it is in its place, whatever comes into it: where one looks stays, and so does its WebGL. */
function useDrawing(place: RefObject<HTMLElement | null>, options: DrawingOptions): Drawing {
  const { look, isDirected, onSelect } = options;
  const sigma = useRef<Sigma | null>(null);
  const [state, setState] = useState<SigmaView["state"]>("loading");
  const isSeen = useIsSeen(place);
  // biome-ignore lint/correctness/useExhaustiveDependencies: arrows are drawn by another program
  useEffect(() => {
    const element = place.current;
    if (!element || !isSeen) return;
    if (!hasWebgl()) return setState("missing");
    setState("loading");
    let isOver = false;
    loadSigma().then(
      (modules) => {
        // Not before: a second drawing in the same place is wiped away with the first.
        if (isOver) return;
        sigma.current = drawn(modules, { element, graph: look.graph, look, onSelect });
        setState(sigma.current ? "drawn" : "missing");
      },
      () => isOver || setState("missing"),
    );
    const sizes = new ResizeObserver(() => sigma.current?.refresh());
    sizes.observe(element);
    return () => {
      isOver = true;
      sizes.disconnect();
      look.endFlash?.();
      sigma.current?.kill();
      sigma.current = null;
    };
  }, [place, look, isDirected, onSelect, isSeen]);
  return { sigma, state };
}

/** A page may draw only a few with WebGL: of many graphs in a conversation those that are in sight. */
function useIsSeen(place: RefObject<HTMLElement | null>): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (!place.current) return;
    const sight = new IntersectionObserver((entries) =>
      setSeen(entries.some(({ isIntersecting }) => isIntersecting)),
    );
    sight.observe(place.current);
    return () => sight.disconnect();
  }, [place]);
  return isSeen;
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

/** Fewer names where there are many. */
function labelSettings({ order, size }: MultiGraph): Partial<Settings> {
  return {
    labelRenderedSizeThreshold: order > 120 ? 9 : 5,
    labelDensity: order > 60 ? 1 : 8,
    renderEdgeLabels: size <= 60,
  };
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
    ...labelSettings(graph),
    edgeLabelSize: 10,
    edgeLabelColor: { color: look.colours.quiet },
    stagePadding: element.clientWidth > 420 ? 80 : 60,
    zIndex: true,
    allowInvalidContainer: true,
    defaultEdgeType: isDirected ? "arrow" : "line",
    edgeProgramClasses: { ...(isDirected && { arrow: EdgeArrowProgram }) },
    defaultDrawNodeLabel: labelLook(look),
    defaultDrawNodeHover: hoverLook(look),
    nodeReducer: (id, data) => nodeLook(look, id, data),
    edgeReducer: (id, data) => edgeLook(look, id, data),
  });
  sigma.on("clickNode", ({ node }) => onSelect(node));
  sigma.on("clickStage", () => onSelect(undefined));
  return sigma;
}
