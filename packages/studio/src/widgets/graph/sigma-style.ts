import type { MultiGraph } from "graphology";
import type Sigma from "sigma";
import type { Settings } from "sigma/settings";
import type { EdgeDisplayData, NodeDisplayData } from "sigma/types";
import type { ThemeColors } from "../theme-colors.ts";

/** Mutable state that sigma's reducers read while drawing. */
export type GraphStyle = {
  graph: MultiGraph;
  colors: ThemeColors;
  selected: string | undefined;
  flashing: ReadonlySet<string>;
  /** Stops the flash before the drawing is destroyed. */
  endFlash?: () => void;
};

type Attributes = { readonly [name: string]: unknown };

/** Colors a node by type and fades nodes that are unrelated to the selection. */
export function styleNode(style: GraphStyle, id: string, data: Attributes): Partial<NodeDisplayData> {
  const { graph, colors, selected, flashing } = style;
  const kind = Number(data.kind);
  const typeColor = kind < 0 ? colors.quiet : colors.series[kind % colors.series.length];
  const color = typeof data.given === "string" ? data.given : (typeColor ?? colors.accent);
  const size = Number(data.size);
  if (flashing.has(id))
    return { ...data, color: colors.accent, size: size * 1.6, zIndex: 2, forceLabel: true };
  const isUnrelated =
    selected !== undefined &&
    selected !== id &&
    [selected, id].every((nodeId) => graph.hasNode(nodeId)) &&
    !graph.areNeighbors(id, selected);
  if (isUnrelated) return { ...data, color: colors.line, label: null, zIndex: 0 };
  return { ...data, color, zIndex: 1, ...(selected === id && { size: size * 1.3, forceLabel: true }) };
}

/** Highlights edges of the selected node. The edge may belong to a replaced graph. */
export function styleEdge(style: GraphStyle, id: string, data: Attributes): Partial<EdgeDisplayData> {
  const { graph, colors, selected } = style;
  const color = typeof data.given === "string" ? data.given : colors.faint;
  if (selected === undefined || !graph.hasNode(selected) || !graph.hasEdge(id)) return { ...data, color };
  return graph.hasExtremity(id, selected)
    ? { ...data, color: colors.accent, zIndex: 1 }
    : { ...data, color, label: "" };
}

/** Draws a node label with an outline, so that it stays readable over edges. */
export function createLabelDrawer(style: GraphStyle): Settings["defaultDrawNodeLabel"] {
  return (context, data, settings) => {
    if (!data.label) return;
    context.font = `${settings.labelWeight} ${settings.labelSize}px ${settings.labelFont}`;
    const [left, middle] = placeLabel(context, { ...data, label: data.label });
    const bottom = middle + settings.labelSize / 3;
    context.strokeStyle = style.colors.raised;
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.strokeText(data.label, left, bottom);
    context.fillStyle = style.colors.ink;
    context.fillText(data.label, left, bottom);
  };
}

type LabelledNode = { readonly x: number; readonly y: number; readonly size: number; readonly label: string };

/** Places the label next to the node, or below it if it would be cut off. */
function placeLabel(
  context: CanvasRenderingContext2D,
  { x, y, size, label }: LabelledNode,
): readonly [left: number, middle: number] {
  const { width } = context.measureText(label);
  const [beside, maxLeft] = [x + size + 4, context.canvas.clientWidth - width - 6];
  const isCut = beside > maxLeft && x < context.canvas.clientWidth;
  return isCut ? [Math.max(maxLeft, 2), y + size + 9] : [beside, y];
}

/** Draws the hover label on the theme's background; sigma's default is always white. */
export function createHoverDrawer(style: GraphStyle): Settings["defaultDrawNodeHover"] {
  return (context, data, settings) => {
    const { raised, ink, accent } = style.colors;
    context.strokeStyle = accent;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(data.x, data.y, data.size + 2, 0, Math.PI * 2);
    context.stroke();
    if (!data.label) return;
    context.font = `${settings.labelWeight} ${settings.labelSize}px ${settings.labelFont}`;
    const [left, middle] = placeLabel(context, { ...data, label: data.label });
    const width = context.measureText(data.label).width;
    context.fillStyle = raised;
    context.fillRect(left - 3, middle - 9, width + 8, 18);
    context.fillStyle = ink;
    context.fillText(data.label, left, middle + settings.labelSize / 3);
  };
}

/** Zooms so that all given nodes are visible. */
export function zoomTo(sigma: Sigma, ids: readonly string[]): void {
  const positions = ids.map((id) => sigma.getNodeDisplayData(id)).filter((data) => data !== undefined);
  if (positions.length === 0) return;
  const [xs, ys] = [positions.map(({ x }) => x), positions.map(({ y }) => y)];
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [bottom, top] = [Math.min(...ys), Math.max(...ys)];
  const ratio = Math.min(Math.max(right - left, top - bottom, 0.12) * 1.5, 1);
  sigma
    .getCamera()
    .animate({ x: (left + right) / 2, y: (bottom + top) / 2, ratio }, { duration: 120 })
    .catch(ignore);
}

/** Ignores animations that are interrupted by another one. */
function ignore(): undefined {
  return undefined;
}

const flashMs = 220;
const flashes = 3;

/** Flashes nodes three times, or highlights them once with reduced motion. Returns a function that stops it. */
export function flashNodes(sigma: Sigma, style: GraphStyle, ids: readonly string[]): () => void {
  if (ids.length === 0) return ignore;
  const all = new Set(ids);
  const prefersReducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let count = 0;
  const show = (isOn: boolean): void => {
    style.flashing = isOn ? all : new Set();
    sigma.refresh();
  };
  show(true);
  const timer = setInterval(
    () => {
      count += 1;
      show(!prefersReducedMotion && count % 2 === 0);
      if (prefersReducedMotion || count >= flashes * 2 - 1) clearInterval(timer);
    },
    prefersReducedMotion ? 1500 : flashMs,
  );
  return () => {
    clearInterval(timer);
    style.flashing = new Set();
  };
}
