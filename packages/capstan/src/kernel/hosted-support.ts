import { AgentError } from "../base/errors.ts";
import type { HostedKind, HostedToolSpec } from "./hosted-tool.ts";
import type { Model } from "./model.ts";
import { findNamedLimits, type ModelApi } from "./settings/support.ts";

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
  toolSearch: { "openai-responses": [], anthropic: [] },
};

/** Kinds that a cloud lacks although it has the API, by its name and the API. */
const missing: { readonly [cloud: string]: readonly HostedKind[] } = {
  "bedrock anthropic": ["webSearch", "webFetch", "codeExecution", "mcp", "computer", "toolSearch"],
  "vertex anthropic": ["webFetch", "codeExecution", "mcp", "computer", "toolSearch"],
  "vertex gemini": ["fileSearch"],
};

/** The API of a model; a list if it is a compatible server. */
type HostedApi = ModelApi | readonly unknown[];

/** What an agent offers to a model. */
export type HostedRequest = {
  readonly hosted: readonly HostedToolSpec[];
  /** Whether there are tools besides the hosted ones. */
  readonly hasFunctions: boolean;
};

/** Returns why a model with this API and id cannot have the hosted tools, one sentence per problem. */
export function findHostedProblems(
  api: HostedApi,
  id: string,
  { hosted, hasFunctions }: HostedRequest,
): readonly string[] {
  const problems = hosted.flatMap((tool) => findToolProblems(tool, api, id));
  if (problems.length > 0 || !hasFunctions || canCombine(api, id)) return problems;
  const names = hosted.map(({ name }) => name).join(", ");
  return [
    `${id} does not combine hosted tools (${names}) with other tools: use another model, or a separate agent through agentTool.`,
  ];
}

function findToolProblems(tool: HostedToolSpec, api: HostedApi, id: string): readonly string[] {
  const { kind, name, options } = tool;
  const known = typeof api === "string" ? support[kind][api] : undefined;
  const cloud = `${id.split("/", 1)} ${api}`;
  if (!known || (Object.hasOwn(missing, cloud) && missing[cloud]?.includes(kind))) {
    const others = Object.keys(support[kind]).join(", ");
    return [`The hosted tool "${name}" is not available with ${id}. APIs that have it: ${others}.`];
  }
  if (api === "openai-chat" && !id.includes("search"))
    return [`The hosted tool "${name}" needs a search model with chat completions; ${id} is not one.`];
  if (kind === "computer" && api === "anthropic" && /-5[-.]5/.test(id))
    return [
      `The hosted tool "${name}" is not available with ${id}, which has another one: use an earlier model.`,
    ];
  if (tool.kind === "mcp" && api === "anthropic" && tool.options.approval !== "never")
    return [
      `${id} calls the tools of "${name}" without asking: set \`approval: "never"\` to accept that, or connect to the server with @capstan/mcp.`,
    ];
  return Object.entries(options).flatMap(([option, value]) => {
    if (value === undefined || option === "extra" || option === "reads" || known.includes(option)) return [];
    return [`The hosted tool "${name}" has no ${option} with ${id}: remove the option, or use \`extra\`.`];
  });
}

/** Gemini before version 3 or on Vertex, and OpenAI's search models, reject requests with both kinds of tools. */
function canCombine(api: HostedApi, id: string): boolean {
  if (api === "gemini") return !/^vertex\/|gemini-(?:1|2)/.test(id);
  return api !== "openai-chat";
}

/** Same as `findHostedProblems`, for a model named `provider/model`. */
export function findNamedHostedProblems(name: string, request: HostedRequest): readonly string[] {
  const api = findNamedLimits(name);
  return api ? findHostedProblems(api, name, request) : []; // the offline model has no provider
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
