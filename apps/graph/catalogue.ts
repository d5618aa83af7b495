import { type GraphFile, readGraphFile } from "./data/graph-file.ts";
import { lesMiserables } from "./data/miserables.ts";
import { hasSources, moduleGraph, ownPackages } from "./data/module-graph.ts";
import { pets } from "./data/pets.ts";
import type { Network } from "./network.ts";

/** Makes a graph; one that takes long should heed the signal. */
export type GraphSource = (signal: AbortSignal) => Network | Promise<Network>;
export type GraphSources = { readonly [name: string]: GraphSource };

export type CatalogueOptions = {
  readonly graphFile?: GraphFile;
  /** Graphs of your own: from a database, from a service. */
  readonly graphs?: GraphSources;
};

/** The graphs that can be opened, by name; the first is the one that is open when a session begins. */
export interface Catalogue {
  readonly names: readonly string[];
  readonly first: string;
  /** The graph as it was made when it was last opened. */
  get(name: string, signal: AbortSignal): Promise<Network>;
  /** The graph made anew. */
  load(name: string, signal: AbortSignal): Promise<Network>;
}

export function catalogue({ graphFile, graphs = {} }: CatalogueOptions): Catalogue {
  const sources: GraphSources = {
    ...(graphFile !== undefined && { file: () => readGraphFile(graphFile) }),
    ...graphs,
    pets: () => pets,
    miserables: lesMiserables,
    ...(hasSources(ownPackages) && { modules: (signal) => moduleGraph(ownPackages, signal) }),
  };
  const made = new Map<string, Network>();
  const load: Catalogue["load"] = async (name, signal) => {
    const source = Object.hasOwn(sources, name) ? sources[name] : undefined;
    if (!source) throw new Error(`There is no graph "${name}".`);
    const network = { ...(await source(signal)), name };
    made.set(name, network);
    return network;
  };
  const names = Object.keys(sources);
  return {
    names,
    first: names[0] ?? "pets",
    load,
    get: async (name, signal) => made.get(name) ?? load(name, signal),
  };
}
