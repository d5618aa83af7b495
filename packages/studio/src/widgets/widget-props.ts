// Props for a tool result's `ui: { kind, props }`. Types only: tools can import them without loading the studio.

/** Suggested replies, supported by every widget. */
export type WidgetReplies = {
  /** Up to six texts of up to 80 characters, shown as buttons below the newest answer. A button sends exactly its text. */
  readonly replies?: readonly string[];
};

/** Longitude and latitude, or x and y on a plan. */
export type Position = readonly [number, number];

/** The supported GeoJSON geometries. */
export type MapGeometry =
  | { readonly type: "Point"; readonly coordinates: Position }
  | { readonly type: "LineString" | "MultiPoint"; readonly coordinates: readonly Position[] }
  | { readonly type: "Polygon" | "MultiLineString"; readonly coordinates: readonly (readonly Position[])[] }
  | { readonly type: "MultiPolygon"; readonly coordinates: readonly (readonly (readonly Position[])[])[] };

/** What a place is for: it has the color and the icon of its category. */
export type MapCategory =
  | "gate"
  | "food"
  | "cafe"
  | "shop"
  | "restroom"
  | "security"
  | "lift"
  | "stairs"
  | "information"
  | "lounge"
  | "health"
  | "money"
  | "baggage"
  | "check-in"
  | "water"
  | "power";

export type MapFeature = {
  readonly type: "Feature";
  readonly geometry: MapGeometry;
  readonly properties: {
    /** Label, shown where there is space. */
    readonly name?: string;
    /** Style: `ground` is the building outline, `room` a room, `open` a walkable area, `wall` a wall. */
    readonly look?: "ground" | "room" | "open" | "wall";
    /** Shows an icon, also at a point, and colors a room. The legend lists the categories. */
    readonly category?: MapCategory;
  };
};

export type MapLevel = {
  readonly id: string;
  readonly name: string;
  readonly features: readonly MapFeature[];
};

export type MapPin = {
  readonly label: string;
  readonly level: string;
  readonly at: Position;
  /** `here` marks the user's position. */
  readonly look?: "place" | "here";
  /** One-line description. */
  readonly note?: string;
};

export type MapRoute = {
  /** Corners in order. A change of level means stairs or a lift. */
  readonly points: readonly { readonly level: string; readonly at: Position }[];
  /** Directions in order. */
  readonly steps?: readonly string[];
};

/** Levels with pins and a route. Kind `map`. */
export type MapProps = WidgetReplies & {
  readonly title?: string;
  readonly levels: readonly MapLevel[];
  /** `earth` (default): longitude and latitude. `plan`: x and y, with y pointing up. */
  readonly coordinates?: "earth" | "plan";
  /** Initial level. Defaults to the start of the route or the first pin. */
  readonly level?: string;
  readonly pins?: readonly MapPin[];
  readonly route?: MapRoute;
};

export type GraphNode = {
  readonly id: string;
  readonly label?: string;
  /** Shown in the legend. */
  readonly type?: string;
  /** `#rrggbb`. Defaults to the color of its type. */
  readonly color?: string;
  /** Defaults to 1. */
  readonly size?: number;
};

export type GraphEdge = {
  readonly from: string;
  readonly to: string;
  readonly label?: string;
  readonly color?: string;
  readonly size?: number;
};

/** Nodes and edges. Kind `graph`. */
export type GraphProps = WidgetReplies & {
  readonly title?: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly layout?: "force" | "circle" | "grid";
  /** Edges have arrows. */
  readonly isDirected?: boolean;
  /** Ids of nodes to flash. */
  readonly flash?: readonly string[];
  /** Ids of nodes to zoom to. */
  readonly zoomTo?: readonly string[];
};

export type SourcePassage = {
  /** Citation number in the answer. */
  readonly n?: number;
  readonly title: string;
  /** Location in the source: a section, page or line. */
  readonly place?: string;
  readonly url?: string;
  /** Address of one of the user's own files on this server: `/api/data/notes/files/travel.pdf#page=3`. */
  readonly file?: string;
  readonly text: string;
  /** Quotes from the text to highlight. */
  readonly cited?: readonly string[];
};

/** Passages with their sources. Kind `sources`. */
export type SourcesProps = WidgetReplies & {
  readonly title?: string;
  readonly sources: readonly SourcePassage[];
};

/** A command as it will run. Kind `command`. */
export type CommandProps = WidgetReplies & {
  readonly command: string;
  /** The working folder. */
  readonly folder?: string;
  /** What the command can reach: `{ what: "Network", answer: "none" }`. */
  readonly allows?: readonly { readonly what: string; readonly answer: string }[];
};

/** An email as its recipients will see it. Kind `email`. */
export type EmailProps = WidgetReplies & {
  readonly from?: string;
  readonly to: readonly string[];
  readonly cc?: readonly string[];
  readonly bcc?: readonly string[];
  readonly subject?: string;
  /** Plain text. */
  readonly body: string;
  /** File names. */
  readonly attachments?: readonly string[];
};

/** A diff. Kind `diff`. */
export type DiffProps = WidgetReplies & {
  readonly path?: string;
  /** Unified format, as written by `diff -u` and Git; of several files too, also of renamed ones. */
  readonly diff: string;
};

export type TableColumn = {
  /** Field name in a row. */
  readonly key: string;
  readonly label?: string;
  readonly align?: "left" | "right";
};

export type TableCell = string | number | boolean | null;

/** A table that the user can sort and filter. Kind `table`. */
export type TableProps = WidgetReplies & {
  readonly title?: string;
  /** Defaults to the fields of the rows. */
  readonly columns?: readonly TableColumn[];
  readonly rows: readonly { readonly [key: string]: TableCell }[];
};

export type ChartSeries = {
  readonly label: string;
  /** One value per `x` value; `null` is a gap. */
  readonly values: readonly (number | null)[];
  readonly color?: string;
};

/** A line, bar or area chart. Kind `chart`. */
export type ChartProps = WidgetReplies & {
  readonly title?: string;
  readonly type: "line" | "bar" | "area";
  /** Text values are categories. Numbers must be ascending. `time` values are seconds since 1970. */
  readonly x: {
    readonly label?: string;
    readonly type?: "category" | "number" | "time";
    readonly values: readonly (string | number)[];
  };
  readonly yLabel?: string;
  /** Appended to each value. */
  readonly unit?: string;
  readonly series: readonly ChartSeries[];
};

/** All hints that the studio has a widget for. */
export type WidgetHint =
  | { readonly kind: "map"; readonly props: MapProps }
  | { readonly kind: "graph"; readonly props: GraphProps }
  | { readonly kind: "sources"; readonly props: SourcesProps }
  | { readonly kind: "diff"; readonly props: DiffProps }
  | { readonly kind: "command"; readonly props: CommandProps }
  | { readonly kind: "email"; readonly props: EmailProps }
  | { readonly kind: "table"; readonly props: TableProps }
  | { readonly kind: "chart"; readonly props: ChartProps };
