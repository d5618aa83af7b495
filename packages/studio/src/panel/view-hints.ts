import type { UiHint } from "capstan";
import { graphShape, mapShape } from "../widgets/widget-shapes.ts";

/** A map or a graph that a call has drawn, and the position of its fact. */
export type ViewHint = { readonly seq: number; readonly hint: UiHint };

const known = new WeakMap<UiHint, boolean>();

/** Whether this belongs beside the conversation rather than into it: a map or a graph that can be drawn. */
export function isView(hint: UiHint): boolean {
  const isIt = known.get(hint) ?? fits(hint);
  known.set(hint, isIt);
  return isIt;
}

function fits({ kind, props }: UiHint): boolean {
  if (kind === "map") return mapShape(props, "props") === undefined;
  return kind === "graph" && graphShape(props, "props") === undefined;
}
