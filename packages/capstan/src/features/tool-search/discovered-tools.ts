import { type Json, toCanonicalJson } from "../../base/json.ts";
import type { Fact } from "../../kernel/event.ts";
import type { ToolSpec } from "../../kernel/model.ts";
import type { State } from "../../kernel/state.ts";
import { splitPhrases } from "../../kernel/tool-examples.ts";

/** The tools that each agent has found in the session, by agent and tool, in the order found. */
export type DiscoveredTools = Map<string, Map<string, ToolSpec>>;

/** Adds what a call has found. A tool keeps its place; one whose definition has changed moves to the end. */
export function addDiscovered(
  { discovered: known }: Pick<State, "discovered">,
  { agent, discovered = [] }: Extract<Fact, { type: "tool_call_result" }>,
): void {
  const found = known.get(agent) ?? new Map<string, ToolSpec>();
  for (const spec of discovered) {
    const earlier = found.get(spec.name);
    if (earlier && isSameDefinition(earlier, spec)) continue;
    found.delete(spec.name);
    found.set(spec.name, spec);
  }
  known.set(agent, found);
}

/**
 * Returns the tools that were found and are still the same, in the order found. A model never gets a definition that the
 * application has changed or removed, and none that a session file claims.
 */
export function listDiscovered(
  { discovered }: Pick<State, "discovered">,
  agent: string,
  current: ReadonlyMap<string, ToolSpec>,
): readonly ToolSpec[] {
  return [...(discovered.get(agent)?.values() ?? [])].flatMap((recorded) => {
    const spec = current.get(recorded.name);
    return spec && isSameDefinition(spec, recorded) ? [spec] : [];
  });
}

const texts = new WeakMap<ToolSpec, string>();

function isSameDefinition(left: ToolSpec, right: ToolSpec): boolean {
  return left === right || formatDefinition(left) === formatDefinition(right);
}

/**
 * Stores drop undefined members and may change the order of the others. Facts of earlier versions have the phrases of a
 * tool in its schema.
 */
function formatDefinition(spec: ToolSpec): string {
  let text = texts.get(spec);
  if (text === undefined) {
    const definition = { ...spec, input: splitPhrases(spec.input).json };
    text = toCanonicalJson(JSON.parse(JSON.stringify(definition)) as Json);
    texts.set(spec, text);
  }
  return text;
}
