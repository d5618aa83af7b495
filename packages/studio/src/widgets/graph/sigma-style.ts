import type { MultiGraph } from "graphology";
import type Sigma from "sigma";
import type { Settings } from "sigma/settings";
import type { EdgeDisplayData, NodeDisplayData } from "sigma/types";
import type { ThemeColours } from "../theme-colors.ts";

/** What the drawing depends on besides the graph. Kept in one object that the reducers of sigma read. */
export type GraphLook = {
  graph: MultiGraph;
  colours: ThemeColours;
  selected: string | undefined;
  flashing: ReadonlySet<string>;
  /** What flashes must end before its drawing does. */
  endFlash?: () => void;
};

type Attributes = { readonly [name: string]: unknown };

/** A node in the colour of its type; faded when another one is selected that it is not joined to. */
export function nodeLook(look: GraphLook, id: string, data: Attributes): Partial<NodeDisplayData> {
  const { graph, colours, selected, flashing } = look;
  const kind = Number(data.kind);
  const own = kind < 0 ? colours.quiet : colours.series[kind % colours.series.length];
  const color = typeof data.given === "string" ? data.given : (own ?? colours.accent);
  const size = Number(data.size);
  if (flashing.has(id))
    return { ...data, color: colours.accent, size: size * 1.6, zIndex: 2, forceLabel: true };
  const isFar =
    selected !== undefined &&
    selected !== id &&
    [selected, id].every((one) => graph.hasNode(one)) &&
    !graph.areNeighbors(id, selected);
  if (isFar) return { ...data, color: colours.line, label: null, zIndex: 0 };
  return { ...data, color, zIndex: 1, ...(selected === id && { size: size * 1.3, forceLabel: true }) };
}

/** An edge is a quiet line; those of the selected node stand out. It may be one of a graph that is gone. */
export function edgeLook(look: GraphLook, id: string, data: Attributes): Partial<EdgeDisplayData> {
  const { graph, colours, selected } = look;
  const color = typeof data.given === "string" ? data.given : colours.faint;
  if (selected === undefined || !graph.hasNode(selected) || !graph.hasEdge(id)) return { ...data, color };
  return graph.hasExtremity(id, selected)
    ? { ...data, color: colours.accent, zIndex: 1 }
    : { ...data, color, label: "" };
}

/** The name of a node on a rim of paper, so that lines do not cross it. */
export function labelLook(look: GraphLook): Settings["defaultDrawNodeLabel"] {
  return (context, data, settings) => {
    if (!data.label) return;
    context.font = `${settings.labelWeight} ${settings.labelSize}px ${settings.labelFont}`;
    const [left, middle] = placeOfLabel(context, { ...data, label: data.label });
    const bottom = middle + settings.labelSize / 3;
    context.strokeStyle = look.colours.raised;
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.strokeText(data.label, left, bottom);
    context.fillStyle = look.colours.ink;
    context.fillText(data.label, left, bottom);
  };
}

type LabelledNode = { readonly x: number; readonly y: number; readonly size: number; readonly label: string };

/** Beside the node; below it where the name would be cut at the right. */
function placeOfLabel(
  context: CanvasRenderingContext2D,
  { x, y, size, label }: LabelledNode,
): readonly [left: number, middle: number] {
  const { width } = context.measureText(label);
  const [beside, most] = [x + size + 4, context.canvas.clientWidth - width - 6];
  const isCut = beside > most && x < context.canvas.clientWidth;
  return isCut ? [Math.max(most, 2), y + size + 9] : [beside, y];
}

/** The name of the node under the pointer, on the paper of the theme: that of sigma is always white. */
export function hoverLook(look: GraphLook): Settings["defaultDrawNodeHover"] {
  return (context, data, settings) => {
    const { raised, ink, accent } = look.colours;
    context.strokeStyle = accent;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(data.x, data.y, data.size + 2, 0, Math.PI * 2);
    context.stroke();
    if (!data.label) return;
    context.font = `${settings.labelWeight} ${settings.labelSize}px ${settings.labelFont}`;
    const [left, middle] = placeOfLabel(context, { ...data, label: data.label });
    const width = context.measureText(data.label).width;
    context.fillStyle = raised;
    context.fillRect(left - 3, middle - 9, width + 8, 18);
    context.fillStyle = ink;
    context.fillText(data.label, left, middle + settings.labelSize / 3);
  };
}

/** Brings nodes into the middle, as near as they all fit. */
export function zoomTo(sigma: Sigma, ids: readonly string[]): void {
  const places = ids.map((id) => sigma.getNodeDisplayData(id)).filter((data) => data !== undefined);
  if (places.length === 0) return;
  const [xs, ys] = [places.map(({ x }) => x), places.map(({ y }) => y)];
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [bottom, top] = [Math.min(...ys), Math.max(...ys)];
  const ratio = Math.min(Math.max(right - left, top - bottom, 0.12) * 1.5, 1);
  sigma
    .getCamera()
    .animate({ x: (left + right) / 2, y: (bottom + top) / 2, ratio }, { duration: 120 })
    .catch(ignore);
}

/** An animation that another one ends is no fault. */
function ignore(): undefined {
  return undefined;
}

const flashMs = 220;
const flashes = 3;

/** Lets nodes flash: three times, or once and longer for those who want no motion. Returns how to end it. */
export function flash(sigma: Sigma, look: GraphLook, ids: readonly string[]): () => void {
  if (ids.length === 0) return ignore;
  const all = new Set(ids);
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let count = 0;
  const show = (isOn: boolean): void => {
    look.flashing = isOn ? all : new Set();
    sigma.refresh();
  };
  show(true);
  const timer = setInterval(
    () => {
      count += 1;
      show(!isStill && count % 2 === 0);
      if (isStill || count >= flashes * 2 - 1) clearInterval(timer);
    },
    isStill ? 1500 : flashMs,
  );
  return () => {
    clearInterval(timer);
    look.flashing = new Set();
  };
}
