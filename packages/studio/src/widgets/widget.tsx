import type { UiHint } from "capstan";
import { type ComponentType, type LazyExoticComponent, lazy, memo, type ReactNode, Suspense } from "react";
import { ErrorBoundary } from "../ui/error-boundary.tsx";
import { Loading } from "../ui/state.tsx";
import { EmailWidget } from "./email-widget.tsx";
import { JsonView } from "./json-view.tsx";
import type { Shape } from "./shape.ts";
import type { WidgetHint } from "./widget-props.ts";
import {
  chartShape,
  commandShape,
  diffShape,
  emailShape,
  graphShape,
  mapShape,
  sourcesShape,
  tableShape,
} from "./widget-shapes.ts";

type PropsOf<K extends WidgetHint["kind"]> = Extract<WidgetHint, { readonly kind: K }>["props"];

type Kind<P> = {
  readonly shape: Shape<P>;
  /** Large ones are loaded when they are needed. */
  readonly View: LazyExoticComponent<ComponentType<P>> | ComponentType<P>;
  /** Reserved height while loading, to avoid layout shifts. */
  readonly height: string;
};

const kinds: { readonly [K in WidgetHint["kind"]]: Kind<PropsOf<K>> } = {
  map: {
    shape: mapShape,
    View: lazy(async () => ({ default: (await import("./map/map-widget.tsx")).MapWidget })),
    height: "min-h-[28rem]",
  },
  graph: {
    shape: graphShape,
    View: lazy(async () => ({ default: (await import("./graph/graph-widget.tsx")).GraphWidget })),
    height: "min-h-[30rem]",
  },
  sources: {
    shape: sourcesShape,
    View: lazy(async () => ({ default: (await import("./sources-widget.tsx")).SourcesWidget })),
    height: "min-h-40",
  },
  diff: {
    shape: diffShape,
    View: lazy(async () => ({ default: (await import("./diff-widget.tsx")).DiffWidget })),
    height: "min-h-40",
  },
  command: {
    shape: commandShape,
    View: lazy(async () => ({ default: (await import("./command-widget.tsx")).CommandWidget })),
    height: "min-h-24",
  },
  email: {
    shape: emailShape,
    View: EmailWidget,
    height: "min-h-40",
  },
  table: {
    shape: tableShape,
    View: lazy(async () => ({ default: (await import("./table-widget.tsx")).TableWidget })),
    height: "min-h-56",
  },
  chart: {
    shape: chartShape,
    View: lazy(async () => ({ default: (await import("./chart/chart-widget.tsx")).ChartWidget })),
    height: "min-h-[24rem]",
  },
};

/** Renders a UI hint with the widget of its kind. Invalid or unknown hints are shown as JSON with a reason. */
export const Widget: React.NamedExoticComponent<{ readonly hint: UiHint }> = memo(function Widget({
  hint,
}): ReactNode {
  const kind = findKind(hint.kind);
  const label = `${hint.kind.slice(0, 60)} (data)`;
  if (!kind)
    return (
      <JsonView value={hint.props} label={label} reason={`No widget for "${hint.kind.slice(0, 60)}".`} />
    );
  const problem = kind.shape(hint.props, "props");
  if (problem !== undefined)
    return <JsonView value={hint.props} label={label} reason={`Invalid data for this widget: ${problem}.`} />;
  // Validated by the shape.
  const View = kind.View as unknown as ComponentType<object>;
  const props = hint.props as object;
  return (
    <ErrorBoundary
      fallback={<JsonView value={props} label={label} reason="The widget failed to render this data." />}
    >
      <Suspense
        fallback={
          <div className={`my-3 rounded-lg border ${kind.height}`}>
            <Loading label="Loading widget" />
          </div>
        }
      >
        <View {...props} />
      </Suspense>
    </ErrorBoundary>
  );
});

/** Whether a widget can draw this hint: the kind is known and the props are valid. */
export function isDrawable({ kind, props }: UiHint): boolean {
  const widgetKind = findKind(kind);
  return widgetKind !== undefined && widgetKind.shape(props, "props") === undefined;
}

export function hasWidget(kind: string): boolean {
  return findKind(kind) !== undefined;
}

function findKind(name: string): Kind<never> | undefined {
  return Object.hasOwn(kinds, name)
    ? (kinds[name as WidgetHint["kind"]] as unknown as Kind<never>)
    : undefined;
}
