import { AgentError } from "../errors.ts";
import type { Model } from "../model.ts";
import { findNamedLimits, type ModelApi } from "../settings/support.ts";
import type { HostedKind, HostedToolSpec } from "./hosted-tool.ts";

type Support = { readonly [Api in ModelApi]?: readonly string[] };

const domains = ["allowedDomains", "blockedDomains", "maxUses"];
const server = ["label", "url", "allowedTools", "approval", "token"];
const display = ["displayWidth", "displayHeight", "environment"];

/** The options of each kind that an API has. A kind does not exist at an API without an entry. */
const support: { readonly [Kind in HostedKind]: Support } = {
  webSearch: {
    "openai-responses": ["allowedDomains", "userLocation"],
    "openai-chat": ["userLocation"],
    anthropic: [...domains, "userLocation"],
    gemini: [],
  },
  webFetch: { anthropic: domains, gemini: [] },
  codeExecution: { "openai-responses": [], anthropic: [], gemini: [] },
  fileSearch: { "openai-responses": ["stores", "maxResults"], gemini: ["stores", "maxResults"] },
  imageGeneration: { "openai-responses": ["size", "quality", "format"] },
  mcp: { "openai-responses": server, anthropic: server },
  computer: { "openai-responses": display, anthropic: display },
};

/** Kinds that a provider lacks although it has the API. */
const missing: { readonly [provider: string]: readonly HostedKind[] } = {
  bedrock: ["webSearch", "webFetch", "codeExecution", "mcp", "computer"],
  vertex: ["fileSearch", "mcp", "computer"],
};

/** A model as its client knows it. `provider` is the part of its id before the slash. */
export type HostedModel = {
  /** A list stands for a compatible server. */
  readonly api: ModelApi | readonly unknown[];
  readonly provider: string;
  readonly model: string;
};

/** What an agent offers to a model. */
export type HostedRequest = {
  readonly hosted: readonly HostedToolSpec[];
  /** Whether there are tools besides the hosted ones. */
  readonly hasFunctions: boolean;
};

/** Returns why a model cannot have the hosted tools, one sentence per problem. */
export function findHostedProblems(target: HostedModel, { hosted, hasFunctions }: HostedRequest): string[] {
  const id = `${target.provider}/${target.model}`;
  const problems = hosted.flatMap((tool) => findToolProblems(tool, target, id));
  if (problems.length === 0 && hasFunctions && !canCombine(target))
    problems.push(
      `${id} does not combine hosted tools (${hosted.map(({ name }) => name).join(", ")}) with other tools: use another model, or a separate agent through agentTool.`,
    );
  return problems;
}

function findToolProblems(tool: HostedToolSpec, { api, provider, model }: HostedModel, id: string): string[] {
  const { kind, name, options } = tool;
  const known = typeof api === "string" ? support[kind][api] : undefined;
  if (!known || missing[provider]?.includes(kind)) {
    const others = Object.keys(support[kind]).join(", ");
    return [`The hosted tool "${name}" is not available with ${id}. APIs that have it: ${others}.`];
  }
  if (api === "openai-chat" && !/search/.test(model))
    return [`The hosted tool "${name}" needs a search model with chat completions; ${id} is not one.`];
  if (tool.kind === "mcp" && api === "anthropic" && tool.options.approval !== "never")
    return [
      `${id} calls the tools of "${name}" without asking: set \`approval: "never"\` to accept that, or connect to the server with @capstan/mcp.`,
    ];
  return Object.entries(options).flatMap(([option, value]) => {
    if (value === undefined || option === "extra" || option === "reads" || known.includes(option)) return [];
    return [`The hosted tool "${name}" has no ${option} with ${id}: remove the option, or use \`extra\`.`];
  });
}

/** Gemini before version 3 or on Vertex, and OpenAI's search models reject requests with both kinds of tools. */
function canCombine({ api, provider, model }: HostedModel): boolean {
  if (api === "gemini") return provider !== "vertex" && !/gemini-(?:1|2)/.test(model);
  return api !== "openai-chat";
}

/** Same as `findHostedProblems`, for a model named `provider/model`. */
export function findNamedHostedProblems(name: string, request: HostedRequest): readonly string[] {
  const api = findNamedLimits(name);
  if (!api) return []; // the offline model has no provider
  const slash = name.indexOf("/");
  return findHostedProblems({ api, provider: name.slice(0, slash), model: name.slice(slash + 1) }, request);
}

/** Throws `invalid_definition` if a model of an agent lacks one of its hosted tools. */
export function checkHostedSupport(
  owner: string,
  request: HostedRequest,
  models: readonly (Model | string)[],
): void {
  for (const model of models) {
    const [problem] =
      typeof model === "string"
        ? findNamedHostedProblems(model, request)
        : (model.checkHosted?.(request) ?? []);
    if (problem) throw new AgentError("invalid_definition", `tools of the ${owner}: ${problem}`);
  }
}
