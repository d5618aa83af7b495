import type { Agent } from "../../kernel/agent.ts";
import type { FactBody } from "../../kernel/event.ts";
import { type HostedToolSpec, isOutgoing } from "../../kernel/hosted-tool.ts";
import { defaultPolicy } from "../../kernel/policy.ts";
import { findNewDescriptions, withoutOwnDescriptions } from "../../kernel/provenance.ts";
import type { State } from "../../kernel/state.ts";

/** The hosted tools of a turn. */
type HostedOffer = {
  readonly offered: readonly HostedToolSpec[];
  readonly withdrawn: readonly HostedToolSpec[];
};

/**
 * Withdraws tools with which the provider could send private data to a place that untrusted text has chosen. The
 * provider calls them without asking, so the gate cannot stop a single call. A strict gate withdraws them as soon as
 * one of the two has been read, because an answer may search several times.
 */
export function offerHosted(agent: Agent, { labels, run }: State): HostedOffer {
  const { hosted = [], tools } = agent;
  const { gate } = run?.policy ?? defaultPolicy;
  const described = findNewDescriptions(tools.values(), labels);
  const all = { ...labels, untrusted: [...described, ...labels.untrusted] };
  const isWithdrawn = (tool: HostedToolSpec): boolean => {
    if (gate === "off" || !isOutgoing(tool)) return false;
    const { untrusted, private: secret } = withoutOwnDescriptions(all, tools.get(tool.name) ?? {});
    const found = [untrusted, secret].filter((sources) => sources.length > 0);
    return found.length === 2 || (gate === "strict" && found.length === 1);
  };
  return { offered: hosted.filter((tool) => !isWithdrawn(tool)), withdrawn: hosted.filter(isWithdrawn) };
}

/** Warns once per run that hosted tools were withdrawn. */
export function warnWithdrawn(agent: Agent, state: State): readonly FactBody[] {
  if (state.run?.warned.has("hosted_tool_withdrawn")) return [];
  const names = offerHosted(agent, state).withdrawn.map(({ name }) => name);
  if (names.length === 0) return [];
  const message = `Withdrew ${names.join(", ")}: the provider could send private data out, because the conversation contains text from others and private data.`;
  return [{ type: "warning", code: "hosted_tool_withdrawn", message }];
}
