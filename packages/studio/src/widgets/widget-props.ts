// What a tool may put into `ui: { kind, props }`. Types alone: a tool has them without anything of the studio.

/** Any widget may offer what a person could say next. */
export type WidgetReplies = {
  /** Up to six texts of up to 80 characters: buttons under the newest answer. Each says exactly the text that it sends. */
  readonly replies?: readonly string[];
};

/** A place on the earth, or on a plan: longitude and latitude, or x and y. */
export type Position = readonly [number, number];

/** A shape of GeoJSON, as far as a floor needs them. */
export type MapGeometry =
  | { readonly type: "Point"; readonly coordinates: Position }
  | { readonly type: "LineString" | "MultiPoint"; readonly coordinates: readonly Position[] }
  | { readonly type: "Polygon" | "MultiLineString"; readonly coordinates: readonly (readonly Position[])[] }
  | { readonly type: "MultiPolygon"; readonly coordinates: readonly (readonly (readonly Position[])[])[] };

export type MapFeature = {
  readonly type: "Feature";
  readonly geometry: MapGeometry;
  readonly properties: {
    /** Written on it where there is room. */
    readonly name?: string;
    /** How it is drawn: `ground` is the building, `room` a part of it, `open` can be walked on, `wall` cannot. */
    readonly look?: "ground" | "room" | "open" | "wall";
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
  /** `here` is where one stands. */
  readonly look?: "place" | "here";
  /** A line about it. */
  readonly note?: string;
};

export type MapRoute = {
  /** Its corners, in order; where the level changes one goes up or down. */
  readonly points: readonly { readonly level: string; readonly at: Position }[];
  /** What to do, in order. */
  readonly steps?: readonly string[];
};

/** Floors with pins and a way. Kind `map`. */
export type MapProps = WidgetReplies & {
  readonly title?: string;
  readonly levels: readonly MapLevel[];
  /** Whether positions are longitude and latitude, which is usual, or x and y of a plan, with y going up. */
  readonly coordinates?: "earth" | "plan";
  /** Which level is shown first: otherwise that of the first pin or of the start of the route. */
  readonly level?: string;
  readonly pins?: readonly MapPin[];
  readonly route?: MapRoute;
};

export type GraphNode = {
  readonly id: string;
  readonly label?: string;
  /** What it is: the legend has one entry for each type. */
  readonly type?: string;
  /** `#rrggbb`; otherwise that of its type. */
  readonly color?: string;
  /** 1 is usual. */
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
  /** Ids of nodes that have just changed. */
  readonly flash?: readonly string[];
  /** Ids of nodes to look at. */
  readonly zoomTo?: readonly string[];
};

export type SourcePassage = {
  /** Its number in the answer. */
  readonly n?: number;
  readonly title: string;
  /** Where in it: a section, a page, a line. */
  readonly place?: string;
  readonly url?: string;
  readonly text: string;
  /** Words of the text that the answer uses. */
  readonly cited?: readonly string[];
};

/** Passages with where they come from. Kind `sources`. */
export type SourcesProps = WidgetReplies & {
  readonly title?: string;
  readonly sources: readonly SourcePassage[];
};

/** Changed lines. Kind `diff`. */
export type DiffProps = WidgetReplies & {
  readonly path?: string;
  /** In the unified format, as `diff -u` and Git write it. */
  readonly diff: string;
};

export type TableColumn = {
  /** The name of the field in a row. */
  readonly key: string;
  readonly label?: string;
  readonly align?: "left" | "right";
};

export type TableCell = string | number | boolean | null;

/** Rows, sorted and filtered by whoever reads them. Kind `table`. */
export type TableProps = WidgetReplies & {
  readonly title?: string;
  /** Otherwise the fields of the rows, in the order in which they come. */
  readonly columns?: readonly TableColumn[];
  readonly rows: readonly { readonly [key: string]: TableCell }[];
};

export type ChartSeries = {
  readonly label: string;
  /** One for each of `x`; `null` is a gap. */
  readonly values: readonly (number | null)[];
  readonly color?: string;
};

/** Numbers as lines, bars or areas. Kind `chart`. */
export type ChartProps = WidgetReplies & {
  readonly title?: string;
  readonly type: "line" | "bar" | "area";
  /** Texts are categories; numbers must rise; `time` are seconds since 1970. */
  readonly x: {
    readonly label?: string;
    readonly type?: "category" | "number" | "time";
    readonly values: readonly (string | number)[];
  };
  readonly yLabel?: string;
  /** Written after each value. */
  readonly unit?: string;
  readonly series: readonly ChartSeries[];
};

/** Every hint that the studio has a widget for. */
export type WidgetHint =
  | { readonly kind: "map"; readonly props: MapProps }
  | { readonly kind: "graph"; readonly props: GraphProps }
  | { readonly kind: "sources"; readonly props: SourcesProps }
  | { readonly kind: "diff"; readonly props: DiffProps }
  | { readonly kind: "table"; readonly props: TableProps }
  | { readonly kind: "chart"; readonly props: ChartProps };
