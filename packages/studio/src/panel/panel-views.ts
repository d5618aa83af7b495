import type { UiHint } from "capstan";
import { graphShape, mapShape } from "../widgets/widget-shapes.ts";

/** A map or graph, with the position of its fact. */
export type PanelView = { readonly seq: number; readonly hint: UiHint };

const cache = new WeakMap<UiHint, boolean>();

/** Whether a widget belongs in the panel: a valid map or graph. */
export function isPanelView(hint: UiHint): boolean {
  const isDrawable = cache.get(hint) ?? matchesShape(hint);
  cache.set(hint, isDrawable);
  return isDrawable;
}

function matchesShape({ kind, props }: UiHint): boolean {
  if (kind === "map") return mapShape(props, "props") === undefined;
  return kind === "graph" && graphShape(props, "props") === undefined;
}
