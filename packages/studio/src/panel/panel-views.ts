import type { UiHint } from "capstan";
import type { SessionView } from "capstan/client";
import { graphShape, mapShape } from "../widgets/widget-shapes.ts";

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

/** Finds the newest map or graph. */
export function findPanelView(hints: SessionView["hints"]): UiHint | undefined {
  return hints.findLast(({ hint }) => isPanelView(hint))?.hint;
}
