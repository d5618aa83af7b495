// For tests of the tools: each called as the runtime calls it, on a desk in a folder of its own.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json, Tool, ToolContext, ToolReturn } from "capstan";
import { type CatalogueOptions, catalogue } from "../catalogue.ts";
import type { Desk } from "../command.ts";
import type { Layout } from "../views.ts";
import { viewsIn } from "../views.ts";

/** A picture, as far as tests look at it. */
export type Picture = {
  readonly title: string;
  readonly nodes: readonly { readonly id: string; readonly label: string; readonly color?: string }[];
  readonly edges: readonly { readonly from: string; readonly to: string; readonly color?: string }[];
  readonly layout: Layout;
  readonly flash?: readonly string[];
  readonly zoomTo?: readonly string[];
  readonly replies?: readonly string[];
};

export type Trial = {
  readonly desk: Desk;
  call(tool: Tool, input?: Json): Promise<ToolReturn>;
  /** What the call put on screen. */
  picture(tool: Tool, input?: Json): Promise<Picture>;
  end(): void;
};

export function trial(options: CatalogueOptions = {}): Trial {
  const folder = mkdtempSync(join(tmpdir(), "graph-tools-"));
  const desk: Desk = { catalogue: catalogue(options), views: viewsIn(folder), reads: "public" };
  const context: Partial<ToolContext> = { sessionId: "s", signal: new AbortController().signal };
  const call: Trial["call"] = async (tool, input = {}) => {
    const checked = await tool.schema.validate(input);
    if (!checked.valid) throw new Error(checked.issues.join(" "));
    return (await tool.execute?.(checked.value, context as ToolContext)) as ToolReturn;
  };
  return {
    desk,
    call,
    picture: async (tool, input) => (await call(tool, input)).ui?.props as unknown as Picture,
    end: () => rmSync(folder, { recursive: true }),
  };
}
