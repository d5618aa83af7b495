import { type Json, toCanonicalJson } from "../base/json.ts";
import type { Agent, Instructions, ModelChoice } from "./agent.ts";
import type { Tool } from "./tool.ts";
import { withPhrases } from "./tool-examples.ts";

/** What a version of an agent consists of, as readable data. A function counts as its source text. */
export type VersionedDefinition = {
  readonly instructions: string;
  /** Model ids in the order in which they are tried; the other chains only if they differ. */
  readonly models: {
    readonly main: readonly string[];
    readonly afterTools?: readonly string[];
    readonly summary?: readonly string[];
  };
  readonly tools: readonly VersionedTool[];
  /** Other tools are resolved again for each turn and are not part of the version. */
  readonly hasDynamicTools?: true;
  readonly fallbackTool?: string;
  readonly handoffs: readonly string[];
  readonly settings?: Json;
  readonly policy: Json;
  readonly output?: Json;
};

export type VersionedTool = {
  readonly name: string;
  readonly description: string;
  readonly instructions?: string;
  readonly input: Json;
  readonly effects?: Tool["effects"];
  readonly reads?: Tool["reads"];
  readonly needsApproval?: true;
  readonly defer?: boolean;
  readonly hosted?: Json;
};

const versions = new WeakMap<Agent, string>();
/** Agents that are created for each request usually share their tools. */
const toolTexts = new WeakMap<Tool, string>();

/**
 * Computes the content version of an agent: 12 hexadecimal digits, equal for equal definitions in any process. Computed
 * once per agent object.
 */
export function computeAgentVersion(agent: Agent): string {
  let version = versions.get(agent);
  if (version === undefined) {
    const texts = [...agent.tools.values()].map(formatTool);
    version = hashText([toCanonicalJson(describeSettings(agent) as Json), ...texts].join("\n"));
    versions.set(agent, version);
  }
  return version;
}

/** Returns the definition that the version of an agent is computed from. */
export function describeVersion(agent: Agent): VersionedDefinition {
  return { ...describeSettings(agent), tools: [...agent.tools.values()].map(describeTool) };
}

function formatTool(tool: Tool): string {
  let text = toolTexts.get(tool);
  if (text === undefined) {
    text = toCanonicalJson(describeTool(tool) as Json);
    toolTexts.set(tool, text);
  }
  return text;
}

function describeSettings(agent: Agent): Omit<VersionedDefinition, "tools"> {
  const { instructions, models, toolSource, fallbackTool, handoffs, settings, policy, output } = agent;
  const main = models.main.map(getModelId);
  const afterTools = models.afterTools.map(getModelId);
  const summary = models.summary.map(getModelId);
  return {
    instructions: describeInstructions(instructions),
    models: {
      main,
      ...(equalsList(afterTools, main) ? {} : { afterTools }),
      ...(equalsList(summary, main) ? {} : { summary }),
    },
    ...(toolSource && { hasDynamicTools: true }),
    ...(fallbackTool && { fallbackTool: fallbackTool.name }),
    handoffs: (handoffs?.() ?? []).map(({ name }) => name),
    ...(settings && { settings: typeof settings === "function" ? String(settings) : toData(settings) }),
    policy: toData(policy),
    ...(output && { output: toData(output.json) }),
  };
}

/** Instructions that are joined from sections, and sections of the runtime that describe themselves. */
type DescribedInstructions = { readonly sections?: readonly Instructions[]; readonly summary?: string };

function describeInstructions(instructions: Instructions): string {
  if (typeof instructions === "string") return instructions;
  const { sections, summary } = instructions as DescribedInstructions;
  if (summary !== undefined) return `[${summary}]`;
  if (!sections) return String(instructions);
  return sections
    .map(describeInstructions)
    .filter((text) => text !== "")
    .join("\n\n");
}

function describeTool(tool: Tool): VersionedTool {
  const { name, description, instructions, effects, reads, needsApproval, defer, hosted } = tool;
  return {
    ...{ name, description, input: toData(withPhrases(tool)) },
    ...(instructions !== undefined && { instructions }),
    ...(effects !== undefined && { effects }),
    ...(reads !== undefined && { reads }),
    ...(needsApproval && { needsApproval: true }),
    ...(defer !== undefined && { defer }),
    ...(hosted && { hosted: toData(hosted) }),
  };
}

const getModelId = (model: ModelChoice): string => (typeof model === "string" ? model : model.id);

const equalsList = (left: readonly string[], right: readonly string[]): boolean =>
  left.join("\n") === right.join("\n");

/** Without what JSON cannot express. */
function toData(value: object): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

/**
 * Returns 48 bits of a 64-bit hash (cyrb53). Not cryptographic: it tells the versions of one agent apart and protects
 * nothing, and a run must not wait for the asynchronous hashes of the platform.
 */
function hashText(text: string): string {
  let low = 0xdeadbeef;
  let high = 0x41c6ce57;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    low = Math.imul(low ^ code, 2654435761);
    high = Math.imul(high ^ code, 1597334677);
  }
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  return formatWord(high).slice(4) + formatWord(low);
}

const formatWord = (word: number): string => (word >>> 0).toString(16).padStart(8, "0");
