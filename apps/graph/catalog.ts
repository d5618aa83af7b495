import type { Network } from "./network.ts";

/** Creates a graph. A slow source should respect the signal. */
export type GraphSource = (signal: AbortSignal) => Network | Promise<Network>;
export type GraphSources = { readonly [name: string]: GraphSource };

/** The graphs that can be opened, by name. A session starts with the first one. */
export interface Catalog {
  readonly names: readonly string[];
  readonly first: string;
  /** Returns the graph as last loaded; loads it if necessary. */
  get(name: string, signal: AbortSignal): Promise<Network>;
  /** Loads the graph again. */
  load(name: string, signal: AbortSignal): Promise<Network>;
}

export function createCatalog(sources: GraphSources): Catalog {
  const loadedGraphs = new Map<string, Network>();
  const load: Catalog["load"] = async (name, signal) => {
    const source = Object.hasOwn(sources, name) ? sources[name] : undefined;
    if (!source) throw new Error(`Graph "${name}" not found.`);
    const network = { ...(await source(signal)), name };
    loadedGraphs.set(name, network);
    return network;
  };
  const names = Object.keys(sources);
  return {
    names,
    first: names[0] ?? "",
    load,
    get: async (name, signal) => loadedGraphs.get(name) ?? load(name, signal),
  };
}
