// Test harness that calls tools the way the runtime does, with views in a temporary folder.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json, Tool, ToolContext, ToolReturn } from "capstan";
import { createCatalog, type GraphSources } from "../catalog.ts";
import type { GraphContext } from "../command.ts";
import { builtInGraphs } from "../data/built-in-graphs.ts";
import type { Layout } from "../view.ts";
import { openViews } from "../views.ts";

/** The fields of a picture that tests check. */
export type Picture = {
  readonly title: string;
  readonly nodes: readonly { readonly id: string; readonly label: string; readonly color?: string }[];
  readonly edges: readonly { readonly from: string; readonly to: string; readonly color?: string }[];
  readonly layout: Layout;
  readonly flash?: readonly string[];
  readonly zoomTo?: readonly string[];
  readonly replies?: readonly string[];
};

export type ToolHarness = {
  readonly context: GraphContext;
  call(tool: Tool, input?: Json): Promise<ToolReturn>;
  /** Returns the picture the call shows. */
  getPicture(tool: Tool, input?: Json): Promise<Picture>;
  close(): void;
};

/** Own graphs come before the built-in ones. */
type ToolHarnessOptions = { readonly graphs?: GraphSources };

export function createToolHarness({ graphs = {} }: ToolHarnessOptions = {}): ToolHarness {
  const folder = mkdtempSync(join(tmpdir(), "graph-tools-"));
  const graphContext: GraphContext = {
    catalog: createCatalog({ ...graphs, ...builtInGraphs }),
    views: openViews(folder),
    reads: "public",
  };
  const toolContext: Partial<ToolContext> = { sessionId: "s", signal: new AbortController().signal };
  const call: ToolHarness["call"] = async (tool, input = {}) => {
    const checked = await tool.schema.validate(input);
    if (!checked.valid) throw new Error(checked.issues.join(" "));
    return (await tool.execute?.(checked.value, toolContext as ToolContext)) as ToolReturn;
  };
  return {
    context: graphContext,
    call,
    getPicture: async (tool, input) => (await call(tool, input)).ui?.props as unknown as Picture,
    close: () => rmSync(folder, { recursive: true }),
  };
}
