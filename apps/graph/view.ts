// How a session shows its graph: colors, layout and zoom.

export const layouts = ["force", "circle", "grid"] as const;
export type Layout = (typeof layouts)[number];

type ColorMap = { readonly [id: string]: string };

export type View = {
  readonly graph: string;
  readonly layout: Layout;
  readonly nodeColours: ColorMap;
  readonly edgeColours: ColorMap;
  readonly zoomTo: readonly string[];
};

export const createView = (graph: string): View => ({
  graph,
  layout: "force",
  nodeColours: {},
  edgeColours: {},
  zoomTo: [],
});

/** The view of each session. */
export interface Views {
  read(sessionId: string): Promise<View | undefined>;
  write(sessionId: string, view: View): Promise<void>;
}

/** Views that last as long as the page. */
export function memoryViews(): Views {
  const views = new Map<string, View>();
  return {
    read: async (sessionId) => views.get(sessionId),
    async write(sessionId, view) {
      views.set(sessionId, view);
    },
  };
}
