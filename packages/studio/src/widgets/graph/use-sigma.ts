import type { MultiGraph } from "graphology";
import { type RefObject, useEffect, useRef, useState } from "react";
import type Sigma from "sigma";
import type { EdgeProgramType } from "sigma/rendering";
import type { Settings } from "sigma/settings";
import { useThemeColors } from "../theme-colors.ts";
import type { GraphProps } from "../widget-props.ts";
import {
  createHoverDrawer,
  createLabelDrawer,
  flashNodes,
  type GraphStyle,
  styleEdge,
  styleNode,
  zoomTo,
} from "./sigma-style.ts";

type SigmaOptions = {
  readonly graph: MultiGraph;
  readonly props: GraphProps;
  /** Ids of the nodes to flash. */
  readonly changed: readonly string[];
  readonly selected: string | undefined;
  readonly onSelect: (id: string | undefined) => void;
};

type SigmaView = {
  readonly container: RefObject<HTMLDivElement | null>;
  readonly state: "loading" | "drawn" | "missing";
  /** Zooms to the given nodes. */
  readonly zoomToNodes: (ids: readonly string[]) => void;
  readonly reset: () => void;
};

/** Keeps a sigma drawing in sync with the graph, theme and selection. */
export function useSigma({ graph, props, changed, selected, onSelect }: SigmaOptions): SigmaView {
  const container = useRef<HTMLDivElement>(null);
  const colors = useThemeColors();
  const [style] = useState<GraphStyle>(() => ({ graph, colors, selected, flashing: new Set() }));
  const { sigma, state } = useDrawing(container, { style, isDirected: graph.type === "directed", onSelect });
  const zoomToNodes = (ids: readonly string[]): void => {
    if (sigma.current) zoomTo(sigma.current, ids);
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: the state tells when the drawing exists
  useEffect(() => {
    style.graph = graph;
    const { current } = sigma;
    if (!current) return;
    if (current.getGraph() !== graph) {
      // Must come first: the style already belongs to the new graph.
      current.setGraph(graph);
      current.setSettings(labelSettings(graph));
    }
    zoomTo(current, props.zoomTo ?? []);
    style.endFlash = flashNodes(current, style, changed);
    return style.endFlash;
  }, [graph, props, changed, style, sigma, state]);

  useEffect(() => {
    Object.assign(style, { colours: colors, selected });
    sigma.current?.setSetting("labelColor", { color: colors.ink });
    sigma.current?.refresh();
  }, [style, colors, selected, sigma]);

  return {
    container,
    state,
    zoomToNodes,
    reset: () => void sigma.current?.getCamera().animatedReset({ duration: 120 }),
  };
}

type DrawingOptions = {
  readonly style: GraphStyle;
  readonly isDirected: boolean;
  readonly onSelect: (id: string | undefined) => void;
};

type Drawing = { readonly sigma: RefObject<Sigma | null>; readonly state: SigmaView["state"] };

/** Creates one drawing per mount and reuses it for new graphs, keeping the camera and the WebGL context. */
function useDrawing(container: RefObject<HTMLElement | null>, options: DrawingOptions): Drawing {
  const { style, isDirected, onSelect } = options;
  const sigma = useRef<Sigma | null>(null);
  const [state, setState] = useState<SigmaView["state"]>("loading");
  const isVisible = useIsVisible(container);
  // biome-ignore lint/correctness/useExhaustiveDependencies: directed graphs need another edge program
  useEffect(() => {
    const element = container.current;
    if (!element || !isVisible) return;
    if (!hasWebgl()) return setState("missing");
    setState("loading");
    let isDisposed = false;
    loadSigma().then(
      (modules) => {
        // A second drawing in the same container would be removed with the first.
        if (isDisposed) return;
        sigma.current = tryCreateSigma(modules, { element, graph: style.graph, style, onSelect });
        setState(sigma.current ? "drawn" : "missing");
      },
      () => isDisposed || setState("missing"),
    );
    const resizeObserver = new ResizeObserver(() => sigma.current?.refresh());
    resizeObserver.observe(element);
    return () => {
      isDisposed = true;
      resizeObserver.disconnect();
      style.endFlash?.();
      sigma.current?.kill();
      sigma.current = null;
    };
  }, [container, style, isDirected, onSelect, isVisible]);
  return { sigma, state };
}

/** Pages are limited to a few WebGL contexts, so only visible graphs are drawn. */
function useIsVisible(container: RefObject<HTMLElement | null>): boolean {
  const [isVisible, setVisible] = useState(false);
  useEffect(() => {
    if (!container.current) return;
    const visibilityObserver = new IntersectionObserver((entries) =>
      setVisible(entries.some(({ isIntersecting }) => isIntersecting)),
    );
    visibilityObserver.observe(container.current);
    return () => visibilityObserver.disconnect();
  }, [container]);
  return isVisible;
}

function hasWebgl(): boolean {
  try {
    const context = document.createElement("canvas").getContext("webgl2");
    // Contexts are limited.
    context?.getExtension("WEBGL_lose_context")?.loseContext();
    return context !== null;
  } catch {
    return false;
  }
}

type DrawOptions = {
  readonly element: HTMLElement;
  readonly graph: MultiGraph;
  readonly style: GraphStyle;
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

/** Returns null if no WebGL context is available; the list is shown instead. */
function tryCreateSigma(modules: SigmaModules, options: DrawOptions): Sigma | null {
  try {
    return createSigma(modules, options);
  } catch {
    return null;
  }
}

/** Shows fewer labels in large graphs. */
function labelSettings({ order, size }: MultiGraph): Partial<Settings> {
  return {
    labelRenderedSizeThreshold: order > 120 ? 9 : 5,
    labelDensity: order > 60 ? 1 : 8,
    renderEdgeLabels: size <= 60,
  };
}

function createSigma(
  { SigmaClass, EdgeArrowProgram }: SigmaModules,
  { element, graph, style, onSelect }: DrawOptions,
): Sigma {
  const isDirected = graph.type === "directed";
  const sigma = new SigmaClass(graph, element, {
    labelFont: '"Inter Variable", system-ui, sans-serif',
    labelSize: 12,
    labelColor: { color: style.colors.ink },
    ...labelSettings(graph),
    edgeLabelSize: 10,
    edgeLabelColor: { color: style.colors.quiet },
    stagePadding: element.clientWidth > 420 ? 80 : 60,
    zIndex: true,
    allowInvalidContainer: true,
    defaultEdgeType: isDirected ? "arrow" : "line",
    edgeProgramClasses: { ...(isDirected && { arrow: EdgeArrowProgram }) },
    defaultDrawNodeLabel: createLabelDrawer(style),
    defaultDrawNodeHover: createHoverDrawer(style),
    nodeReducer: (id, data) => styleNode(style, id, data),
    edgeReducer: (id, data) => styleEdge(style, id, data),
  });
  sigma.on("clickNode", ({ node }) => onSelect(node));
  sigma.on("clickStage", () => onSelect(undefined));
  return sigma;
}
