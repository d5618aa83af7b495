import { boolean, color, either, fields, list, number, oneOf, optional, type Shape, text } from "./shape.ts";
import type {
  ChartProps,
  ChartSeries,
  CommandProps,
  DiffProps,
  EmailProps,
  GraphEdge,
  GraphNode,
  GraphProps,
  MapFeature,
  MapGeometry,
  MapLevel,
  MapPin,
  MapProps,
  MapRoute,
  Position,
  SourcePassage,
  SourcesProps,
  TableCell,
  TableColumn,
  TableProps,
} from "./widget-props.ts";

const name = text(300);
const mapCategories = [
  ...(["gate", "food", "cafe", "shop", "restroom", "security", "lift", "stairs"] as const),
  ...(["information", "lounge", "health", "money", "baggage", "check-in", "water", "power"] as const),
];

const maxPositions = 20_000;

/** A reply: one non-empty line. */
const reply: Shape<string> = (value, path) => {
  const problem = text(80)(value, path);
  if (problem !== undefined) return problem;
  return /^\s*$|[\r\n]/.test(value as string) ? `${path} must be one non-empty line` : undefined;
};
const replies = optional(list(reply, 6));

/** GeoJSON allows a third number, the altitude. It is ignored. */
const position: Shape<Position> = (value, path) => {
  if (!Array.isArray(value) || value.length < 2 || value.length > 3) return `${path} must be two numbers`;
  return number(-1e9, 1e9)(value[0], path) ?? number(-1e9, 1e9)(value[1], path);
};

const line = list(position, maxPositions);
const coordinates: { readonly [type: string]: Shape<unknown> } = {
  Point: position,
  MultiPoint: line,
  LineString: line,
  Polygon: list(line, 1000),
  MultiLineString: list(line, 1000),
  MultiPolygon: list(list(line, 1000), 1000),
};

const geometry: Shape<MapGeometry> = (value, path) => {
  const problem = fields<{ type: string }>({ type: oneOf(...Object.keys(coordinates)) })(value, path);
  if (problem !== undefined) return problem;
  const { type, coordinates: input } = value as { type: string; coordinates?: unknown };
  return coordinates[type]?.(input, `${path}.coordinates`);
};

const feature: Shape<MapFeature> = fields<MapFeature>({
  type: oneOf("Feature"),
  geometry,
  properties: fields<MapFeature["properties"]>({
    name: optional(name),
    look: optional(oneOf("ground", "room", "open", "wall")),
    category: optional(oneOf(...mapCategories)),
  }),
});

const level: Shape<MapLevel> = fields<MapLevel>({ id: name, name, features: list(feature, 5000) });

const pin: Shape<MapPin> = fields<MapPin>({
  label: name,
  level: name,
  at: position,
  look: optional(oneOf("place", "here")),
  note: optional(text()),
});

const route: Shape<MapRoute> = fields<MapRoute>({
  points: list(fields<MapRoute["points"][number]>({ level: name, at: position }), 5000),
  steps: optional(list(text(), 500)),
});

const plainMap: Shape<MapProps> = fields<MapProps>({
  title: optional(name),
  levels: list(level, 50),
  coordinates: optional(oneOf("earth", "plan")),
  level: optional(name),
  pins: optional(list(pin, 500)),
  route: optional(route),
  replies,
});

export const mapShape: Shape<MapProps> = (value, path) => {
  const problem = plainMap(value, path);
  if (problem !== undefined) return problem;
  const { levels } = value as MapProps;
  return levels.length === 0 ? `${path}.levels must not be empty` : undefined;
};

/** The graph library stores nodes in plain objects: a node called `__proto__` would pollute the prototype. */
const nodeId: Shape<string> = (value, path) =>
  name(value, path) ?? (String(value) in {} ? `${path} is a reserved word` : undefined);

const node: Shape<GraphNode> = fields<GraphNode>({
  id: nodeId,
  label: optional(name),
  type: optional(name),
  color: optional(color),
  size: optional(number(0.1, 20)),
});

const edge: Shape<GraphEdge> = fields<GraphEdge>({
  from: name,
  to: name,
  label: optional(name),
  color: optional(color),
  size: optional(number(0.1, 20)),
});

export const graphShape: Shape<GraphProps> = fields<GraphProps>({
  title: optional(name),
  nodes: list(node, 10_000),
  edges: list(edge, 50_000),
  layout: optional(oneOf("force", "circle", "grid")),
  isDirected: optional(boolean),
  flash: optional(list(name, 10_000)),
  zoomTo: optional(list(name, 10_000)),
  replies,
});

const passage: Shape<SourcePassage> = fields<SourcePassage>({
  n: optional(number(0, 100_000)),
  title: name,
  place: optional(name),
  url: optional(text()),
  file: optional(text()),
  text: text(100_000),
  cited: optional(list(text(10_000), 200)),
});

export const sourcesShape: Shape<SourcesProps> = fields<SourcesProps>({
  title: optional(name),
  sources: list(passage, 500),
  replies,
});

export const commandShape: Shape<CommandProps> = fields<CommandProps>({
  command: text(100_000),
  folder: optional(text(4_096)),
  allows: optional(
    list(fields<NonNullable<CommandProps["allows"]>[number]>({ what: name, answer: text(2_000) }), 20),
  ),
  replies,
});

const addresses = list(text(1_000), 1_000);
export const emailShape: Shape<EmailProps> = fields<EmailProps>({
  ...{ from: optional(text(1_000)), to: addresses, cc: optional(addresses), bcc: optional(addresses) },
  ...{ subject: optional(text(10_000)), body: text(1_000_000), attachments: optional(addresses) },
  replies,
});

export const diffShape: Shape<DiffProps> = fields<DiffProps>({
  path: optional(text()),
  diff: text(2_000_000),
  replies,
});

const cell: Shape<TableCell> = (value, path) => {
  if (value === null || typeof value === "boolean") return undefined;
  return typeof value === "number" ? number()(value, path) : text(20_000)(value, path);
};

const row: Shape<TableProps["rows"][number]> = (value, path) => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return `${path} must be an object`;
  for (const [key, member] of Object.entries(value)) {
    const problem = cell(member, `${path}.${key}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
};

export const tableShape: Shape<TableProps> = fields<TableProps>({
  title: optional(name),
  columns: optional(
    list(
      fields<TableColumn>({ key: name, label: optional(name), align: optional(oneOf("left", "right")) }),
      100,
    ),
  ),
  rows: list(row, 100_000),
  replies,
});

const value: Shape<number | null> = (input, path) => (input === null ? undefined : number()(input, path));

const series: Shape<ChartSeries> = fields<ChartSeries>({
  label: name,
  values: list(value, 100_000),
  color: optional(color),
});

const plainChart: Shape<ChartProps> = fields<ChartProps>({
  title: optional(name),
  type: oneOf("line", "bar", "area"),
  x: fields<ChartProps["x"]>({
    label: optional(name),
    type: optional(oneOf("category", "number", "time")),
    values: list(either(number(), name), 100_000),
  }),
  yLabel: optional(name),
  unit: optional(text(30)),
  series: list(series, 12),
  replies,
});

export const chartShape: Shape<ChartProps> = (input, path) => {
  const problem = plainChart(input, path);
  if (problem !== undefined) return problem;
  const { x, series: all } = input as ChartProps;
  const isCategory = x.type === "category" || x.values.some((member) => typeof member === "string");
  if (isCategory && x.type !== undefined && x.type !== "category") return `${path}.x.values must be numbers`;
  const other = all.findIndex(({ values }) => values.length !== x.values.length);
  if (other >= 0) return `${path}.series[${other}].values must have as many items as x.values`;
  const falls = isCategory
    ? -1
    : x.values.findIndex((member, index) => index > 0 && member < (x.values[index - 1] ?? 0));
  return falls > 0 ? `${path}.x.values must be ascending, but [${falls}] is not` : undefined;
};
