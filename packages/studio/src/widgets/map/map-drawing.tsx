import { type ReactNode, useMemo } from "react";
import { escapeBidi } from "../../ui/escape-text.ts";
import {
  type Box,
  getLabelBox,
  type Label,
  measureLabel,
  overlaps,
  placeLabels,
} from "../drawing/place-labels.ts";
import type { View } from "../drawing/use-pan-zoom.ts";
import type { MapCategory, MapFeature, MapLevel, MapPin, MapProps, MapRoute } from "../widget-props.ts";
import { categoryStyles } from "./map-categories.ts";
import type { Point, Projection } from "./map-projection.ts";

type MapDrawingProps = {
  readonly map: MapProps;
  readonly level: MapLevel;
  readonly projection: Projection;
  readonly view: View;
  readonly size: { readonly width: number; readonly height: number };
};

const looks = {
  ground: "fill-paper stroke-faint/60",
  room: "fill-raised stroke-faint/35",
  open: "fill-sunken stroke-line",
  wall: "fill-none stroke-quiet",
} as const;

/** Draws one level. Shapes scale with the view; labels and pins keep their size. */
export function MapDrawing({ map, level, projection, view, size }: MapDrawingProps): ReactNode {
  const shapes = useMemo(
    () => level.features.map((feature) => toDrawnShape(feature, projection)),
    [level, projection],
  );
  const pins = (map.pins ?? []).filter((pin) => pin.level === level.id);
  const toScreen = ([x, y]: Point): Point => [x * view.scale + view.x, y * view.scale + view.y];
  const pinned = pins.map((pin) => ({ pin, at: toScreen(projection.project(pin.at)) }));
  const lines = map.route ? getRouteLines(map.route, level.id) : [];
  const stops = map.route ? getLevelChanges(map.route, map.levels, level.id) : [];
  const changes = stops.map(({ text, at }) => ({ text, at: toScreen(projection.project(at)) }));
  const routeLines = lines.map((line) => line.map((at) => toScreen(projection.project(at))));
  const { labels, icons } = layoutLabels({ shapes, pins: pinned, changes, routeLines, view, size });
  return (
    <svg width={size.width} height={size.height} aria-hidden="true" className="block">
      <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>
        {shapes.map(({ path, look, category }, index) => (
          <path
            // biome-ignore lint/suspicious/noArrayIndexKey: shapes are identified by position
            key={index}
            d={path}
            vectorEffect="non-scaling-stroke"
            strokeWidth={1}
            fillRule="evenodd"
            className={looks[look]}
            style={
              category && {
                fill: `color-mix(in oklab, ${categoryStyles[category].color} 16%, var(--raised))`,
              }
            }
          />
        ))}
        {lines.map((line, index) => (
          <RouteLine
            // biome-ignore lint/suspicious/noArrayIndexKey: segments are identified by position
            key={index}
            points={line.map(projection.project)}
          />
        ))}
      </g>
      {changes.map(({ at: [x, y] }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: stops are identified by position
        <circle key={index} cx={x} cy={y} r={5} strokeWidth={2.5} className="fill-raised stroke-accent" />
      ))}
      {icons.map((icon) => (
        <CategoryIcon key={`${icon.x} ${icon.y}`} {...icon} />
      ))}
      {labels.map(({ text, x, y }) => (
        <text
          key={`${text} ${x} ${y}`}
          x={x}
          y={y}
          textAnchor="middle"
          dominantBaseline="central"
          strokeWidth={3}
          paintOrder="stroke"
          className="fill-quiet stroke-raised text-tiny data-strong:fill-ink data-strong:font-semibold"
          data-strong={pinned.some(({ pin }) => escapeBidi(pin.label) === text) || undefined}
        >
          {text}
        </text>
      ))}
      {pinned.map(({ pin, at }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pin labels are not unique
        <Pin key={index} pin={pin} at={at} />
      ))}
    </svg>
  );
}

type DrawnShape = {
  readonly path: string;
  readonly look: keyof typeof looks;
  readonly name: string | undefined;
  readonly category: MapCategory | undefined;
  readonly center: Point;
  readonly width: number;
  readonly height: number;
};

function toDrawnShape({ geometry, properties }: MapFeature, { path }: Projection): DrawnShape {
  // The GeoJSON types are mutable and ours are readonly; d3 only reads.
  const shape = geometry as unknown as Parameters<typeof path>[0];
  const isLine = geometry.type === "LineString" || geometry.type === "MultiLineString";
  const isPoint = geometry.type === "Point";
  const [[left, top], [right, bottom]] = path.bounds(shape);
  return {
    // A point has only an icon.
    path: isPoint ? "" : (path(shape) ?? ""),
    look: isLine ? "wall" : (properties.look ?? "room"),
    name: properties.name === undefined ? undefined : escapeBidi(properties.name),
    category: properties.category,
    center: path.centroid(shape),
    width: isPoint ? Number.POSITIVE_INFINITY : right - left,
    height: isPoint ? Number.POSITIVE_INFINITY : bottom - top,
  };
}

type LabelLayout = {
  readonly shapes: readonly DrawnShape[];
  readonly pins: readonly { readonly pin: MapPin; readonly at: Point }[];
  readonly changes: readonly { readonly text: string; readonly at: Point }[];
  readonly routeLines: readonly (readonly Point[])[];
  readonly view: View;
  readonly size: { readonly width: number; readonly height: number };
};

type PlacedIcon = {
  readonly category: MapCategory;
  readonly x: number;
  readonly y: number;
  readonly length: number;
};

type MapLabels = { readonly labels: readonly Label[]; readonly icons: readonly PlacedIcon[] };

/**
 * Places pin labels first, then level changes, then icons, then names of rooms by size. Icons and names of rooms never
 * cover the route.
 */
function layoutLabels({ shapes, pins, changes, routeLines, view, size }: LabelLayout): MapLabels {
  const clampX = (x: number, text: string): number => {
    const halfWidth = measureLabel(text) / 2 + 4;
    return Math.min(Math.max(x, halfWidth), Math.max(size.width - halfWidth, halfWidth));
  };
  const pinLabels = pins.map(({ pin, at: [x, y] }) => {
    const text = escapeBidi(pin.label);
    return { text, x: clampX(x, text), y: y + (pin.look === "here" ? 17 : 13) };
  });
  const stops = changes.map(({ text, at: [x, y] }) => ({ text, x: clampX(x, text), y: y - 15 }));
  const rooms = shapes
    .filter(
      ({ name, look, center }) => name !== undefined && look !== "wall" && center.every(Number.isFinite),
    )
    .sort((left, right) => right.width - left.width)
    .map(({ name = "", center, width, height, category }) => ({
      text: name,
      x: center[0] * view.scale + view.x,
      // Below the icon.
      y: center[1] * view.scale + view.y + (category === undefined ? 0 : maxIconPx),
      room: category !== undefined && height * view.scale < 3 * maxIconPx ? 0 : width * view.scale - 4,
    }))
    .filter(({ x, y }) => x > 0 && y > 0 && x < size.width && y < size.height);
  const pinBoxes = pins.map(({ at: [x, y] }) => ({
    left: x - 10,
    right: x + 10,
    top: y - 26,
    bottom: y + 4,
  }));
  const shownStops = placeLabels(stops, [...pinBoxes, ...pinLabels.map(getLabelBox)]);
  const occupied = [
    ...pinBoxes,
    ...[...pinLabels, ...shownStops].map(getLabelBox),
    ...routeLines.flatMap(getLineBoxes),
  ];
  const icons = placeIcons(shapes, { view, size, occupied });
  const rest = placeLabels(rooms, [...occupied, ...icons.map(getIconBox)]);
  return { labels: [...placeLabels(pinLabels), ...shownStops, ...rest], icons };
}

const maxIconPx = 14;
const minIconPx = 8;

const getIconBox = ({ x, y, length }: PlacedIcon): Box => ({
  left: x - length / 2,
  right: x + length / 2,
  top: y - length / 2,
  bottom: y + length / 2,
});

type IconLayout = Pick<LabelLayout, "view" | "size"> & { readonly occupied: readonly Box[] };

/** Places icons in the rooms that are large enough, and at points, where they cover nothing. */
function placeIcons(
  shapes: readonly DrawnShape[],
  { view, size, occupied }: IconLayout,
): readonly PlacedIcon[] {
  const boxes = [...occupied];
  return shapes.flatMap(({ category, center, width, height }) => {
    const length = Math.min(Math.min(width, height) * view.scale - 2, maxIconPx);
    if (category === undefined || length < minIconPx) return [];
    const icon = { category, length, x: center[0] * view.scale + view.x, y: center[1] * view.scale + view.y };
    const box = getIconBox(icon);
    const isShown = icon.x > 0 && icon.y > 0 && icon.x < size.width && icon.y < size.height;
    if (!isShown || boxes.some((other) => overlaps(other, box))) return [];
    boxes.push(box);
    return [icon];
  });
}

function CategoryIcon({ category, x, y, length }: PlacedIcon): ReactNode {
  const { Icon, color } = categoryStyles[category];
  return (
    <Icon
      x={x - length / 2}
      y={y - length / 2}
      size={length}
      color={color}
      strokeWidth={2.2}
      data-category={category}
    />
  );
}

const lineBoxPx = 6;

/** Returns small boxes along the line, so that a diagonal occupies only the space it needs. */
function getLineBoxes(line: readonly Point[]): readonly Box[] {
  return line.slice(1).flatMap(([x, y], index) => {
    const [fromX, fromY] = line[index] ?? [x, y];
    const count = Math.min(Math.ceil(Math.hypot(x - fromX, y - fromY) / lineBoxPx), 1000);
    return Array.from({ length: count + 1 }, (_, step) => {
      const part = count === 0 ? 0 : step / count;
      const [atX, atY] = [fromX + (x - fromX) * part, fromY + (y - fromY) * part];
      return { left: atX - 3, right: atX + 3, top: atY - 3, bottom: atY + 3 };
    });
  });
}

function RouteLine({ points }: { readonly points: readonly Point[] }): ReactNode {
  const path = points.map(([x, y]) => `${x},${y}`).join(" ");
  const line = {
    points: path,
    fill: "none",
    strokeLinecap: "round",
    strokeLinejoin: "round",
    vectorEffect: "non-scaling-stroke",
  } as const;
  return (
    <>
      <polyline {...line} strokeWidth={7} className="stroke-raised" />
      <polyline {...line} strokeWidth={3.5} className="stroke-accent" />
    </>
  );
}

function Pin({ pin, at: [x, y] }: { readonly pin: MapPin; readonly at: Point }): ReactNode {
  if (pin.look === "here")
    return (
      <>
        <circle cx={x} cy={y} r={11} className="fill-accent/20" />
        <circle cx={x} cy={y} r={6} strokeWidth={2} className="fill-accent stroke-raised" />
      </>
    );
  return (
    <g transform={`translate(${x} ${y})`}>
      <path
        d="M0 0C-3-6-9-9.5-9-16a9 9 0 0 1 18 0c0 6.500-6 10-9 16Z"
        strokeWidth={1.5}
        className="fill-accent stroke-raised"
      />
      <circle cy={-16} r={3.2} className="fill-raised" />
    </g>
  );
}

/** Returns the route segments on a level. */
function getRouteLines(
  { points }: MapRoute,
  level: string,
): readonly (readonly MapRoute["points"][number]["at"][])[] {
  const lines: MapRoute["points"][number]["at"][][] = [];
  points.forEach((point, index) => {
    if (point.level !== level) return;
    const line = points[index - 1]?.level === level ? lines.at(-1) : undefined;
    if (line) line.push(point.at);
    else lines.push([point.at]);
  });
  return lines.filter((line) => line.length > 1);
}

/** Returns where the route enters or leaves a level. */
function getLevelChanges(
  { points }: MapRoute,
  levels: readonly MapLevel[],
  level: string,
): readonly { readonly text: string; readonly at: Point }[] {
  const getLevelName = (id: string): string =>
    escapeBidi(levels.find((other) => other.id === id)?.name ?? id);
  return points.flatMap(({ level: pointLevel, at }, index) => {
    const [before, after] = [points[index - 1], points[index + 1]];
    if (pointLevel !== level) return [];
    if (after && after.level !== level) return [{ text: `to ${getLevelName(after.level)}`, at }];
    return before && before.level !== level ? [{ text: `from ${getLevelName(before.level)}`, at }] : [];
  });
}
