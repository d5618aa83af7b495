import { type ReactNode, useMemo } from "react";
import { steadyText } from "../../markdown/visible-text.ts";
import type { MapFeature, MapLevel, MapPin, MapProps, MapRoute } from "../widget-props.ts";
import type { Point, Projection } from "./map-projection.ts";
import { type Box, type Label, labelWidth, placeLabels } from "./place-labels.ts";
import type { View } from "./use-pan-zoom.ts";

type MapDrawingProps = {
  readonly map: MapProps;
  readonly level: MapLevel;
  readonly projection: Projection;
  readonly view: View;
  readonly size: { readonly width: number; readonly height: number };
};

const looks = {
  ground: "fill-paper stroke-faint/50",
  room: "fill-raised stroke-line",
  open: "fill-accent-soft/50 stroke-line",
  wall: "fill-none stroke-quiet",
} as const;

/** The picture of one level. Shapes are scaled with the view; words and pins keep their size. */
export function MapDrawing({ map, level, projection, view, size }: MapDrawingProps): ReactNode {
  const shapes = useMemo(
    () => level.features.map((feature) => shapeOf(feature, projection)),
    [level, projection],
  );
  const pins = (map.pins ?? []).filter((pin) => pin.level === level.id);
  const onScreen = ([x, y]: Point): Point => [x * view.scale + view.x, y * view.scale + view.y];
  const pinned = pins.map((pin) => ({ pin, at: onScreen(projection.project(pin.at)) }));
  const lines = map.route ? linesOf(map.route, level.id) : [];
  const stops = map.route ? changesOf(map.route, map.levels, level.id) : [];
  const changes = stops.map(({ text, at }) => ({ text, at: onScreen(projection.project(at)) }));
  const way = lines.map((line) => line.map((at) => onScreen(projection.project(at))));
  const labels = labelsOn({ shapes, pinned, changes, way, view, size });
  return (
    <svg width={size.width} height={size.height} aria-hidden="true" className="block">
      <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>
        {shapes.map(({ path, look }, index) => (
          <path
            // biome-ignore lint/suspicious/noArrayIndexKey: a shape has no other name than its place
            key={index}
            d={path}
            vectorEffect="non-scaling-stroke"
            strokeWidth={1}
            fillRule="evenodd"
            className={looks[look]}
          />
        ))}
        {lines.map((line, index) => (
          <RouteLine
            // biome-ignore lint/suspicious/noArrayIndexKey: a part of the way has no other name than its place
            key={index}
            points={line.map(projection.project)}
          />
        ))}
      </g>
      {changes.map(({ at: [x, y] }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a stop has no other name than its place
        <circle key={index} cx={x} cy={y} r={5} strokeWidth={2.5} className="fill-raised stroke-accent" />
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
          className="fill-quiet stroke-raised text-[11px] data-strong:fill-ink data-strong:font-semibold"
          data-strong={pinned.some(({ pin }) => steadyText(pin.label) === text) || undefined}
        >
          {text}
        </text>
      ))}
      {pinned.map(({ pin, at }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two pins may have one name
        <Pin key={index} pin={pin} at={at} />
      ))}
    </svg>
  );
}

type DrawnShape = {
  readonly path: string;
  readonly look: keyof typeof looks;
  readonly name: string | undefined;
  readonly centre: Point;
  readonly width: number;
};

function shapeOf({ geometry, properties }: MapFeature, { path }: Projection): DrawnShape {
  // The types of GeoJSON can be written to, and ours cannot; d3 only reads.
  const shape = geometry as unknown as Parameters<typeof path>[0];
  const isLine = geometry.type === "LineString" || geometry.type === "MultiLineString";
  const [[left], [right]] = path.bounds(shape);
  return {
    path: path(shape) ?? "",
    look: isLine ? "wall" : (properties.look ?? "room"),
    name: properties.name === undefined ? undefined : steadyText(properties.name),
    centre: path.centroid(shape),
    width: right - left,
  };
}

type LabelsOn = {
  readonly shapes: readonly DrawnShape[];
  readonly pinned: readonly { readonly pin: MapPin; readonly at: Point }[];
  readonly changes: readonly { readonly text: string; readonly at: Point }[];
  readonly way: readonly (readonly Point[])[];
  readonly view: View;
  readonly size: { readonly width: number; readonly height: number };
};

/** Pins first, then where the way goes on, then large rooms before small ones, but none over the way. */
function labelsOn({ shapes, pinned, changes, way, view, size }: LabelsOn): readonly Label[] {
  const inside = (x: number, text: string): number => {
    const half = labelWidth(text) / 2 + 4;
    return Math.min(Math.max(x, half), Math.max(size.width - half, half));
  };
  const pins = pinned.map(({ pin, at: [x, y] }) => {
    const text = steadyText(pin.label);
    return { text, x: inside(x, text), y: y + (pin.look === "here" ? 17 : 13) };
  });
  const stops = changes.map(({ text, at: [x, y] }) => ({ text, x: inside(x, text), y: y - 15 }));
  const rooms = shapes
    .filter(
      ({ name, look, centre }) => name !== undefined && look !== "wall" && centre.every(Number.isFinite),
    )
    .sort((left, right) => right.width - left.width)
    .map(({ name = "", centre, width }) => ({
      text: name,
      x: centre[0] * view.scale + view.x,
      y: centre[1] * view.scale + view.y,
      room: width * view.scale - 4,
    }))
    .filter(({ x, y }) => x > 0 && y > 0 && x < size.width && y < size.height);
  const heads = pinned.map(({ at: [x, y] }) => ({ left: x - 10, right: x + 10, top: y - 26, bottom: y + 4 }));
  const shownStops = placeLabels(stops, [...heads, ...pins.map(boxOf)]);
  const taken = [...heads, ...[...pins, ...shownStops].map(boxOf), ...way.flatMap(boxesAlong)];
  return [...placeLabels(pins), ...shownStops, ...placeLabels(rooms, taken)];
}

const boxOfLine = 6;

/** Small boxes one after the other, so that a slanting line takes no more room than it needs. */
function boxesAlong(line: readonly Point[]): readonly Box[] {
  return line.slice(1).flatMap(([x, y], index) => {
    const [fromX, fromY] = line[index] ?? [x, y];
    const count = Math.min(Math.ceil(Math.hypot(x - fromX, y - fromY) / boxOfLine), 1000);
    return Array.from({ length: count + 1 }, (_, step) => {
      const part = count === 0 ? 0 : step / count;
      const [atX, atY] = [fromX + (x - fromX) * part, fromY + (y - fromY) * part];
      return { left: atX - 3, right: atX + 3, top: atY - 3, bottom: atY + 3 };
    });
  });
}

function boxOf({ text, x, y }: Label): Box {
  const half = labelWidth(text) / 2;
  return { left: x - half, right: x + half, top: y - 8, bottom: y + 8 };
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

/** The parts of the way on one level. */
function linesOf(
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

/** Where the way comes from another level or goes on to one. */
function changesOf(
  { points }: MapRoute,
  levels: readonly MapLevel[],
  level: string,
): readonly { readonly text: string; readonly at: Point }[] {
  const nameOf = (id: string): string => steadyText(levels.find((other) => other.id === id)?.name ?? id);
  return points.flatMap(({ level: here, at }, index) => {
    const [before, after] = [points[index - 1], points[index + 1]];
    if (here !== level) return [];
    if (after && after.level !== level) return [{ text: `to ${nameOf(after.level)}`, at }];
    return before && before.level !== level ? [{ text: `from ${nameOf(before.level)}`, at }] : [];
  });
}
