import { fileURLToPath } from "node:url";

/** Folder of the built studio, to be served by a server. */
export const studioFolder: string = fileURLToPath(new URL("../dist/app", import.meta.url));

/** The built page that shows widgets in other MCP hosts, in one file: the `widgets` of `serveMcp`. */
export const widgetPage: string = fileURLToPath(new URL("../dist/widget-page/widgets.html", import.meta.url));

export type {
  ChartProps,
  ChartSeries,
  DiffProps,
  GraphEdge,
  GraphNode,
  GraphProps,
  MapCategory,
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
  WidgetHint,
  WidgetReplies,
} from "./widgets/widget-props.ts";
