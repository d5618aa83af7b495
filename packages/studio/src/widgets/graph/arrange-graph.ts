import { type Box, type Label, lineHeight, measureLabel, overlaps } from "../drawing/place-labels.ts";
import type { Size } from "../drawing/use-size.ts";
import type { GraphModel, ModelEdge, ModelNode, Point } from "./graph-model.ts";

/** A node in pixels. */
export type PlacedNode = Point & { readonly node: ModelNode };

/** Nodes are pushed apart so that every label has a place, if there are few enough. */
const maxSpreadNodes = 90;
const spreadRounds = 120;
const margin = 10;

/** Stretches the graph over the whole drawing, and makes room for the labels. */
export function arrangeGraph({ nodes }: GraphModel, size: Size): ReadonlyMap<string, PlacedNode> {
  const { width, height } = size;
  // The long side of the graph goes along the long side of the drawing.
  const isTall = height > width * 1.15;
  const placed = [...nodes.values()].map((node) => {
    const [x, y] = isTall ? [node.y, node.x] : [node.x, node.y];
    const room = getRoom(node, size);
    return {
      node,
      room,
      x: room.side + x * Math.max(width - 2 * room.side, 1),
      y: room.above + y * Math.max(height - room.above - room.below, 1),
    };
  });
  if (placed.length <= maxSpreadNodes) spread(placed, size);
  return new Map(placed.map(({ node, x, y }) => [node.id, { node, x, y }]));
}

type Room = { readonly side: number; readonly above: number; readonly below: number };

/** The space that a node takes with its label below it. */
function getRoom({ label, radius }: ModelNode, { width }: Size): Room {
  const side = Math.min(measureLabel(label) / 2, width / 4);
  return { side: Math.max(side, radius) + 3, above: radius + 4, below: radius + lineHeight + 4 };
}

type MovableNode = { readonly node: ModelNode; readonly room: Room; x: number; y: number };

/** Moves overlapping nodes apart along the shorter way, and keeps all of them within the drawing. */
function spread(nodes: readonly MovableNode[], { width, height }: Size): void {
  for (let round = 0; round < spreadRounds; round++) {
    let isCrowded = false;
    nodes.forEach((first, index) => {
      for (const second of nodes.slice(index + 1)) if (pushApart(first, second)) isCrowded = true;
    });
    for (const one of nodes) {
      one.x = Math.min(Math.max(one.x, one.room.side + margin / 2), width - one.room.side - margin / 2);
      one.y = Math.min(Math.max(one.y, one.room.above + margin / 2), height - one.room.below);
    }
    if (!isCrowded) return;
  }
}

function pushApart(first: MovableNode, second: MovableNode): boolean {
  const [upper, lower] = first.y <= second.y ? [first, second] : [second, first];
  const [left, right] = first.x <= second.x ? [first, second] : [second, first];
  const overlapX = left.room.side + right.room.side - (right.x - left.x);
  const overlapY = upper.room.below + lower.room.above - (lower.y - upper.y);
  if (overlapX <= 0 || overlapY <= 0) return false;
  if (overlapX < overlapY) {
    left.x -= overlapX / 2 + 0.5;
    right.x += overlapX / 2 + 0.5;
  } else {
    upper.y -= overlapY / 2 + 0.5;
    lower.y += overlapY / 2 + 0.5;
  }
  return true;
}

export type DrawnLabel = Label & { readonly id: string };

/** A graph with more nodes shows the labels of the largest ones. */
const maxLabels = 250;

type LabelOptions = {
  /** Labels that come first: of selected and changed nodes. */
  readonly first: ReadonlySet<string>;
  readonly size: Size;
};

/** Places the label of each node below, above or beside it, where it covers no other label and no node. */
export function placeNodeLabels(nodes: readonly PlacedNode[], options: LabelOptions): readonly DrawnLabel[] {
  const { first, size } = options;
  const isShown = ({ x, y }: Point) => x > 0 && y > 0 && x < size.width && y < size.height;
  const rank = ({ node }: PlacedNode) => (first.has(node.id) ? 1000 : 0) + node.radius;
  const shown = nodes.filter(isShown).sort((left, right) => rank(right) - rank(left));
  const dots = shown.map(({ node, x, y }) => ({ id: node.id, box: getDot(x, y, node.radius) }));
  const taken: Box[] = [];
  const labels: DrawnLabel[] = [];
  for (const { node, x, y } of shown.slice(0, maxLabels)) {
    const width = measureLabel(node.label);
    const others = shown.length > maxSpreadNodes ? [] : dots.filter(({ id }) => id !== node.id);
    const free = getCandidates({ x, y, radius: node.radius, width }).find((at) => {
      const box = toBox(at, width);
      const isInside = box.left >= 0 && box.right <= size.width && box.top >= 0 && box.bottom <= size.height;
      return (
        isInside && !taken.some((one) => overlaps(one, box)) && !others.some((dot) => overlaps(dot.box, box))
      );
    });
    if (!free) continue;
    taken.push(toBox(free, width));
    labels.push({ id: node.id, text: node.label, ...free });
  }
  return labels;
}

const toBox = ({ x, y }: Point, width: number): Box => ({
  left: x - width / 2,
  right: x + width / 2,
  top: y - lineHeight / 2,
  bottom: y + lineHeight / 2,
});

const getDot = (x: number, y: number, radius: number): Box => ({
  left: x - radius,
  right: x + radius,
  top: y - radius,
  bottom: y + radius,
});

type Candidate = Point & { readonly radius: number; readonly width: number };

function getCandidates({ x, y, radius, width }: Candidate): readonly Point[] {
  const [gapX, gapY] = [radius + width / 2 + 2, radius + lineHeight / 2 + 1];
  return [
    { x, y: y + gapY },
    { x, y: y - gapY },
    { x: x + gapX, y },
    { x: x - gapX, y },
    { x: x + gapX - radius, y: y + gapY - 3 },
    { x: x - gapX + radius, y: y + gapY - 3 },
    { x: x + gapX - radius, y: y - gapY + 3 },
    { x: x - gapX + radius, y: y - gapY + 3 },
  ];
}

type EdgeLabelOptions = {
  readonly edges: readonly ModelEdge[];
  readonly nodes: ReadonlyMap<string, PlacedNode>;
  readonly nodeLabels: readonly DrawnLabel[];
  readonly size: Size;
};

const maxEdgeLabels = 60;

/** Places labels at the middle of edges, where they cover nothing else. */
export function placeEdgeLabels({ edges, nodes, nodeLabels, size }: EdgeLabelOptions): readonly Label[] {
  if (edges.length > maxEdgeLabels) return [];
  const taken = [
    ...nodeLabels.map((label) => toBox(label, measureLabel(label.text))),
    ...[...nodes.values()].map(({ node, x, y }) => getDot(x, y, node.radius + 1)),
  ];
  return edges.flatMap(({ from, to, label }) => {
    const [start, end] = [nodes.get(from), nodes.get(to)];
    if (!start || !end || label === "") return [];
    const at = { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 };
    const box = toBox(at, measureLabel(label));
    const length = Math.hypot(start.x - end.x, start.y - end.y);
    const isInside = box.left >= 0 && box.right <= size.width && box.top >= 0 && box.bottom <= size.height;
    if (!isInside || length < box.right - box.left || taken.some((one) => overlaps(one, box))) return [];
    taken.push(box);
    return [{ text: label, ...at }];
  });
}
