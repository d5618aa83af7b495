import type { UiHint } from "capstan";
import {
  Component,
  type ComponentType,
  type LazyExoticComponent,
  lazy,
  memo,
  type ReactNode,
  Suspense,
} from "react";
import { Loading } from "../ui/state.tsx";
import { JsonView } from "./json-view.tsx";
import type { Shape } from "./shape.ts";
import type { WidgetHint } from "./widget-props.ts";
import { chartShape, diffShape, graphShape, mapShape, sourcesShape, tableShape } from "./widget-shapes.ts";

type PropsOf<K extends WidgetHint["kind"]> = Extract<WidgetHint, { readonly kind: K }>["props"];

type Kind<P> = {
  readonly shape: Shape<P>;
  readonly View: LazyExoticComponent<ComponentType<P>>;
  /** The height that is kept free while it loads, so that nothing below jumps far. */
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

/** What a tool has made for people, by the kind that it named. What does not fit any widget is shown as JSON, and why. */
export const Widget: React.NamedExoticComponent<{ readonly hint: UiHint }> = memo(function Widget({
  hint,
}): ReactNode {
  const kind = kindOf(hint.kind);
  const label = `${hint.kind.slice(0, 60)} (data)`;
  if (!kind)
    return (
      <JsonView
        value={hint.props}
        label={label}
        reason={`There is no widget for "${hint.kind.slice(0, 60)}".`}
      />
    );
  const problem = kind.shape(hint.props, "props");
  if (problem !== undefined)
    return (
      <JsonView value={hint.props} label={label} reason={`The data does not fit this widget: ${problem}.`} />
    );
  // The shape has let it through.
  const View = kind.View as unknown as ComponentType<object>;
  const props = hint.props as object;
  return (
    <WhenBroken
      fallback={<JsonView value={props} label={label} reason="The widget could not draw this data." />}
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
    </WhenBroken>
  );
});

/** Whether a widget can draw this: its kind is known, and its props fit. */
export function isDrawable({ kind, props }: UiHint): boolean {
  const known = kindOf(kind);
  return known !== undefined && known.shape(props, "props") === undefined;
}

/** Whether there is a widget for this kind. */
export function hasWidget(kind: string): boolean {
  return kindOf(kind) !== undefined;
}

function kindOf(name: string): Kind<never> | undefined {
  return Object.hasOwn(kinds, name)
    ? (kinds[name as WidgetHint["kind"]] as unknown as Kind<never>)
    : undefined;
}

type WhenBrokenProps = { readonly fallback: ReactNode; readonly children: ReactNode };

/** A widget that fails must not take the conversation with it. React asks for a class here. */
class WhenBroken extends Component<WhenBrokenProps, { readonly isBroken: boolean }> {
  override state: { readonly isBroken: boolean } = { isBroken: false };

  static getDerivedStateFromError(): { readonly isBroken: boolean } {
    return { isBroken: true };
  }

  override render(): ReactNode {
    return this.state.isBroken ? this.props.fallback : this.props.children;
  }
}
