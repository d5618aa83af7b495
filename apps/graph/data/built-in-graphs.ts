import type { GraphSources } from "../catalog.ts";
import { createMiserablesGraph } from "./miserables.ts";
import { hasSources, packagesFolder, readModuleGraph } from "./module-graph.ts";
import { pets } from "./pets.ts";

/** The graphs that come with the app. The modules are there if the sources of this project are. */
export const builtInGraphs: GraphSources = {
  pets: () => pets,
  miserables: createMiserablesGraph,
  ...(hasSources(packagesFolder) && { modules: (signal) => readModuleGraph(packagesFolder, signal) }),
};
