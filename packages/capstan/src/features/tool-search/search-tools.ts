import { isRecord, type Json } from "../../base/json.ts";
import { type Agent, handoffName } from "../../kernel/agent.ts";
import type { ToolSpec } from "../../kernel/model.ts";
import type { Policy } from "../../kernel/policy.ts";
import { defineTool, searchToolsName, type Tool, type ToolReturn } from "../../kernel/tool.ts";
import { listExamples } from "../../kernel/tool-examples.ts";
import type { FindTools } from "./find-tools.ts";

const defaultLimit = 5;
const maxLimit = 20;

/** The tools of an agent in a run. */
export type ToolSplit = {
  /** Sent from the first turn on. */
  readonly listed: readonly ToolSpec[];
  /** Sent once they are found, by name. */
  readonly deferred: ReadonlyMap<string, ToolSpec>;
};

const splits = new WeakMap<Agent, { readonly own: ToolSplit; readonly automatic: ToolSplit }>();

/** Splits the tools of an agent: some are sent at once, and the model searches for the others. */
export function splitTools(agent: Agent, policy: Partial<Policy> = {}): ToolSplit {
  let split = splits.get(agent);
  if (!split) {
    split = { own: splitBy(agent, false), automatic: splitBy(agent, true) };
    splits.set(agent, split);
  }
  const { deferToolsAbove: max } = policy; // runs of earlier versions have none
  return typeof max === "number" && agent.specs.length > max ? split.automatic : split.own;
}

/** `defer` decides about a tool, then `isDeferred`. An agent with its own search is left alone. */
function splitBy({ specs, tools }: Agent, isDeferred: boolean): ToolSplit {
  if (tools.has(searchToolsName)) return { listed: specs, deferred: new Map() };
  const { listed = [], deferred = [] } = Object.groupBy(specs, ({ name }) =>
    // The name of the handoff tool is reserved: it must not come back by a search.
    name !== handoffName && (tools.get(name)?.defer ?? isDeferred) ? "deferred" : "listed",
  );
  return {
    listed: deferred.length === 0 ? specs : listed,
    deferred: new Map(deferred.map((spec) => [spec.name, spec])),
  };
}

const searchInput = {
  type: "object",
  properties: {
    query: {
      type: "string",
      description: "What the tool should do, in a few words: an action and its object.",
    },
    limit: { type: "integer", minimum: 1, maximum: maxLimit, description: `Default: ${defaultLimit}.` },
  },
  required: ["query"],
} as const;

/** The definition of the search. It does not name the tools, so that it stays the same when they change. */
export const searchSpec: ToolSpec = {
  name: searchToolsName,
  description:
    "Finds tools by what they do. There are more tools than those you see: search before you say that something cannot be done. A tool that was found can be called in the next turn.",
  input: searchInput,
};

/** The tools that a model gets from the first turn on, with the search if there is something to search for. */
export function listFixedSpecs(agent: Agent, policy?: Partial<Policy>): readonly ToolSpec[] {
  const { listed, deferred } = splitTools(agent, policy);
  return deferred.size === 0 || isSearchHosted(agent) ? listed : [...listed, searchSpec];
}

/** Whether the provider searches for the tools. It then gets all of them with each request. */
export function isSearchHosted({ hosted }: Agent): boolean {
  return hosted?.some(({ kind }) => kind === "toolSearch") ?? false;
}

const markedSpecs = new WeakMap<ToolSpec, ToolSpec>();

/** Marks tools for a provider that searches for them. The same objects each time, because models cache by them. */
export function markDeferred(specs: Iterable<ToolSpec>): readonly ToolSpec[] {
  return [...specs].map((spec) => {
    const marked = markedSpecs.get(spec) ?? { ...spec, defer: true };
    markedSpecs.set(spec, marked);
    return marked;
  });
}

const searches = new WeakMap<Agent, Tool>();

/** Returns the tool that searches the tools of an agent. */
export function getSearchTool(agent: Agent): Tool {
  const tool = searches.get(agent) ?? createSearchTool(agent);
  searches.set(agent, tool);
  return tool;
}

function createSearchTool({ specs, tools, embedTools }: Agent): Tool {
  let finder: Promise<FindTools> | undefined;
  return defineTool({
    ...{ name: searchToolsName, description: searchSpec.description, input: searchInput },
    ...{ effects: "none", reads: [] },
    async execute({ query, limit = defaultLimit }, { signal }): Promise<ToolReturn> {
      // Loaded when a model searches for the first time: most agents never do.
      finder ??= import("./find-tools.ts").then(({ createFinder }) =>
        createFinder(specs, { embedTools, examples: listExamples(tools) }),
      );
      const found = (await (await finder)(query, signal)).slice(0, limit);
      return { content: formatFound(query, found), data: { tools: found.map(({ name }) => name) } };
    },
  });
}

function formatFound(query: string, found: readonly ToolSpec[]): string {
  if (found.length === 0)
    return `No tool matches ${JSON.stringify(query.slice(0, 200))}. Search with other words for the action or its object.`;
  return `Found, the best first: ${found.map(({ name }) => name).join(", ")}. They can be called from now on.`;
}

/** Reads the names of the tools that a search has found. */
export function readFoundNames(data: Json | undefined): readonly string[] {
  const names = isRecord(data) && Array.isArray(data.tools) ? data.tools : [];
  return names.filter((name) => typeof name === "string");
}
