import { AgentError, describeThrown } from "../base/errors.ts";
import { createOnce } from "../base/lazy.ts";
import { toModelHistory } from "../features/citations/model-history.ts";
import { buildHandoffSpec } from "../features/handoffs/handoff-tool.ts";
import { getHandoffPolicy, listOpenTargets } from "../features/handoffs/rules.ts";
import { offerHosted } from "../features/hosted/offer.ts";
import { hasMedia } from "../features/media/has-media.ts";
import { getBackgroundWork, hasBackgroundTools } from "../features/nested/background-work.ts";
import { listDiscovered } from "../features/tool-search/discovered-tools.ts";
import {
  isSearchHosted,
  listFixedSpecs,
  markDeferred,
  splitTools,
} from "../features/tool-search/search-tools.ts";
import {
  type Agent,
  getAgent,
  handoffName,
  type Instructions,
  type InstructionsInput,
} from "../kernel/agent.ts";
import { continueHistory } from "../kernel/calls/continuation.ts";
import type { ModelEffect } from "../kernel/effect.ts";
import type { Entry } from "../kernel/history.ts";
import type { Io } from "../kernel/io.ts";
import type { ModelRequest, ToolSpec } from "../kernel/model.ts";
import { citationSection, hasCitableTools, listToolInstructions } from "../kernel/prompt.ts";
import { getReadResult } from "../kernel/read-result.ts";
import { type ModelSettings, resolveSettings, type ToolChoice } from "../kernel/settings/settings.ts";
import type { State } from "../kernel/state.ts";
import { listExamples } from "../kernel/tool-examples.ts";

/** Output limit after a truncated tool call. A model that allows less rejects the request with a clear error. */
const largeOutputTokens = 32_000;

/** Builds the model request of a turn: current instructions, the full history and the available tools. */
export async function buildRequest(effect: ModelEffect, io: Io): Promise<ModelRequest> {
  const { state } = io;
  const partial = state.run?.currentTurn?.partial;
  const agent = getAgent(io.agents, effect.agent);
  const withdrawn = effect.tools === "withdrawn" || effect.tools === "unavailable";
  const { toolChoice = "auto", ...settings } = resolveTurnSettings(agent, effect, state);
  const tools = withdrawn ? [] : listToolSpecs(agent, state, toolChoice);
  const examples = withdrawn ? undefined : listExamples(agent.tools);
  const fixed = state.run?.instructions ?? agent.instructions;
  const base =
    typeof fixed === "string"
      ? withCitationRules(fixed, agent, state)
      : await buildInstructions(fixed, effect, io);
  const sent = toModelHistory(state);
  const history = partial ? continueHistory(sent, partial) : sent;
  const hosted = withdrawn || !agent.hosted ? [] : offerHosted(agent, state).offered;
  return {
    instructions: [base, ...listToolInstructions(agent), formatOutputInstructions(agent), ...effect.notes]
      .filter((text) => text !== "")
      .join("\n\n"),
    history: hasMedia(history) ? await loadMedia(history, io) : history,
    tools,
    ...(examples && { examples }),
    ...(hosted.length > 0 && { hosted }),
    toolChoice: chooseTool(toolChoice, hosted.length > 0 ? [...tools, ...hosted] : tools, effect),
    thinking: effect.thinking,
    ...(Object.keys(settings).length > 0 && { settings }),
    ...(effect.hasMoreRoom && { maxOutputTokens: largeOutputTokens }),
    ...(agent.output && { output: agent.output.json }),
  };
}

/** A named tool satisfies `required`. An agent that takes over may not have the tool that the run's settings name. */
function chooseTool(
  choice: ToolChoice,
  offered: readonly { readonly name: string }[],
  { tools }: ModelEffect,
): ToolChoice {
  if (offered.length === 0) return "none";
  const isNamed = typeof choice === "object";
  if (isNamed && offered.some(({ name }) => name === choice.tool)) return choice;
  return tools === "required" ? "required" : isNamed ? "auto" : choice;
}

async function loadMedia(history: readonly Entry[], io: Io): Promise<readonly Entry[]> {
  return (await import("../features/media/store-media.ts")).restoreMedia(history, io);
}

function _isWithMedia(entry: Entry): boolean {
  if (entry.type === "assistant") return entry.parts.some(({ type }) => type === "media");
  if (entry.type === "summary" || typeof entry.content === "string") return false;
  return entry.content.some(({ type }) => type !== "text");
}

const noSettings: ModelSettings = {};

/** The settings of the run and its agent. `policy.thinking` decides about the effort if neither sets it. */
function resolveTurnSettings(agent: Agent, { turn, maxTurns }: ModelEffect, { run }: State): ModelSettings {
  const effort = thinkingEffort[run?.policy.thinking ?? "auto"];
  if (!run || (!run.settings && !agent.settings)) return effort ? { effort } : noSettings;
  const { toolCalls: calls, usage } = run;
  const settings = resolveSettings(agent, run.settings, { turn, maxTurns, calls, usage });
  return effort ? { effort, ...settings } : settings;
}

const thinkingEffort = { auto: undefined, on: "medium", off: "none" } as const;

function listToolSpecs(agent: Agent, state: State, choice: ToolChoice): readonly ToolSpec[] {
  const { deferred } = splitTools(agent, state.run?.policy);
  const fixed = listFixedSpecs(agent, state.run?.policy);
  // Offered from the start if tools are found later: nothing may be added before them.
  const readsResults = state.handles.size > 0 || deferred.size > 0;
  const builtin = [
    ...(hasBackgroundTools(agent) ? [getBackgroundWork()] : []),
    ...(readsResults ? [getReadResult()] : []),
  ].filter(({ name }) => !agent.tools.has(name));
  const added = builtin.map(({ name, description, schema }) => ({ name, description, input: schema.json }));
  const own = added.length === 0 ? fixed : [...fixed, ...added];
  const offered = agent.handoffs?.().length ? withHandoff(own, agent, state) : own;
  if (deferred.size === 0) return offered;
  if (isSearchHosted(agent)) return [...offered, ...markDeferred(deferred.values())];
  const found = new Set(listDiscovered(state, agent.name, deferred));
  // A tool that has to be called is sent where it will be once it was called.
  const chosen = typeof choice === "object" ? deferred.get(choice.tool) : undefined;
  return [...offered, ...(chosen ? found.add(chosen) : found)];
}

/** Adds the handoff tool while a handoff is possible. Its name is reserved: no other tool can have it. */
function withHandoff(specs: readonly ToolSpec[], agent: Agent, { run }: State): readonly ToolSpec[] {
  const others = specs.filter(({ name }) => name !== handoffName);
  const names = run ? listOpenTargets(agent, run) : [];
  return run && names.length > 0 ? [...others, buildHandoffSpec(names, getHandoffPolicy(run).mode)] : others;
}

function formatOutputInstructions({ output }: Agent): string {
  if (!output) return "";
  return `Give your final answer as JSON only, with no other text, valid by this JSON Schema:\n${JSON.stringify(output.json)}`;
}

/** Appends how to cite to fixed instructions, from the first turn on: a search must not change what providers cache. */
function withCitationRules(text: string, agent: Agent, { run }: State): string {
  const { citations = "auto" } = run?.policy ?? {};
  if (agent.output || citations === "off" || (citations === "auto" && !hasCitableTools(agent))) return text;
  return [text, citationSection({ tools: agent.specs })].filter((section) => section !== "").join("\n\n");
}

async function buildInstructions(
  instructions: Exclude<Instructions, string>,
  effect: ModelEffect,
  io: Io,
): Promise<string> {
  const { state, clock, context } = io;
  const agent = getAgent(io.agents, effect.agent);
  const timeZone = state.run?.timeZone ?? "UTC";
  const timestamp = clock.now();
  // Formatted if it is read: that takes longer than the rest, and 12 ms for the first date of a process.
  const getNow = createOnce(() => formatNow(timestamp, timeZone));
  const input: InstructionsInput = {
    get now() {
      return getNow();
    },
    timeZone,
    turn: effect.turn,
    maxTurns: effect.maxTurns,
    tools: listFixedSpecs(agent, state.run?.policy),
    fragments: [...state.fragments.values()],
    context,
  };
  try {
    return await instructions(input);
  } catch (thrown) {
    const { message } = describeThrown(thrown, "instructions_failed");
    throw new AgentError("instructions_failed", `The instructions of "${agent.name}" threw: ${message}`, {
      cause: thrown,
    });
  }
}

function formatNow(timestamp: number, timeZone: string): string {
  const date = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "short", timeZone }).format(
    timestamp,
  );
  return `${date} (${timeZone})`;
}
