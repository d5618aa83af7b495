import type { Window } from "./clip-ring.ts";
import type { Wall } from "./geometry.ts";
import type { Feature } from "./read-imdf.ts";
import type { ConnectionKind, Edge, Node } from "./walking-graph.ts";

/** A public unit, with the graph nodes in it. */
export type Room = {
  readonly feature: Feature;
  readonly ordinal: number;
  readonly isOpen: boolean;
  /** Set for stairs, lifts and escalators. */
  readonly kind: ConnectionKind | undefined;
  readonly area: string;
  readonly walls: readonly Wall[];
  readonly window: Window;
  readonly nodes: number[];
};

export type GraphDraft = {
  readonly nodes: Node[];
  readonly edges: Edge[];
  readonly rooms: readonly Room[];
  /** Doors by the id of their opening, and places by the id of their feature. */
  readonly nodesByFeature: Map<string, number>;
};

export const verticalKinds: { readonly [category: string]: ConnectionKind } = {
  elevator: "lift",
  stairs: "stairs",
  steps: "stairs",
  escalator: "escalator",
};
