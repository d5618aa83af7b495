import {
  checkDefinition,
  type FieldRule,
  objectField,
  toChoiceRule,
  toListRule,
  toMinimumRule,
} from "../../base/definition.ts";
import { AgentError } from "../../base/errors.ts";
import {
  type CommonHostedOptions,
  type FileSearchOptions,
  type HostedKind,
  type HostedMcpOptions,
  type HostedOptions,
  type HostedTool,
  hostedNames,
  hostedReads,
  type ImageGenerationOptions,
  isOutgoing,
  type WebFetchOptions,
  type WebSearchOptions,
} from "../../kernel/hosted-tool.ts";
import { defineTool, type Reads, type Tool, type ToolCall } from "../../kernel/tool.ts";
import { type ComputerOptions, createComputerTool } from "./computer.ts";

const textList: FieldRule = {
  hint: "a list of texts",
  accepts: (value) =>
    Array.isArray(value) && value.every((text) => typeof text === "string" && text.trim() !== ""),
};
const text: FieldRule = {
  hint: "a text",
  accepts: (value) => typeof value === "string" && value.trim() !== "",
};
const common = {
  reads: toListRule(["public", "private", "untrusted"] satisfies Reads[]),
  extra: objectField,
};
const domains = { allowedDomains: textList, blockedDomains: textList, maxUses: toMinimumRule(1) };

const optionRules: {
  readonly [Kind in HostedKind]: Readonly<Record<keyof HostedOptions[Kind], FieldRule>>;
} = {
  webSearch: { ...common, ...domains, userLocation: objectField },
  webFetch: { ...common, ...domains },
  codeExecution: common,
  fileSearch: { ...common, stores: textList, maxResults: toMinimumRule(1) },
  imageGeneration: {
    ...{ ...common, size: text, quality: toChoiceRule(["low", "medium", "high"]) },
    format: toChoiceRule(["png", "webp", "jpeg"]),
  },
  mcp: {
    ...{ ...common, url: text, allowedTools: textList, token: text },
    label: {
      hint: "a text of letters, digits, _ and -",
      accepts: (value) => typeof value === "string" && /^[\w-]{1,48}$/.test(value),
    },
    approval: toChoiceRule(["always", "never"]),
  },
  computer: {
    ...{ ...common, displayWidth: toMinimumRule(1), displayHeight: toMinimumRule(1) },
    environment: toChoiceRule(["browser", "linux", "mac", "windows"]),
  },
  toolSearch: common,
};

const descriptions: { readonly [Kind in Exclude<HostedKind, "mcp" | "computer">]: string } = {
  webSearch: "Searches the web; executed by the model's provider.",
  webFetch: "Reads a page of the web; executed by the model's provider.",
  codeExecution: "Executes code in a sandbox of the model's provider.",
  fileSearch: "Searches files that are stored at the model's provider.",
  imageGeneration: "Generates images; executed by the model's provider.",
  toolSearch: "Finds deferred tools; executed by the model's provider.",
};

/** A tool whose calls have the input that its provider gives them. */
type NamedTool<Name extends string> = Tool<ToolCall<Name>, unknown>;

/**
 * Tools that the model's provider executes. They go into the `tools` of an agent, whose model has to have them:
 * `defineAgent` rejects kinds and options that it does not have.
 */
export const hostedTools: {
  webSearch(options?: WebSearchOptions): NamedTool<"web_search">;
  webFetch(options?: WebFetchOptions): NamedTool<"web_fetch">;
  codeExecution(options?: CommonHostedOptions): NamedTool<"code_execution">;
  fileSearch(options: FileSearchOptions): NamedTool<"file_search">;
  imageGeneration(options?: ImageGenerationOptions): NamedTool<"image_generation">;
  /** A remote MCP server that the provider connects to. */
  mcp(options: HostedMcpOptions): Tool;
  /** A computer that the model operates: the provider defines the actions, `execute` performs them. */
  computer(options: ComputerOptions): NamedTool<"computer">;
  /** The provider gets all deferred tools and finds them itself, in place of `search_tools`. */
  toolSearch(options?: CommonHostedOptions): NamedTool<"tool_search">;
} = {
  webSearch: (options = {}) => createHostedTool({ kind: "webSearch", options }),
  webFetch: (options = {}) => createHostedTool({ kind: "webFetch", options }),
  codeExecution: (options = {}) => createHostedTool({ kind: "codeExecution", options }),
  fileSearch: (options) =>
    createHostedTool({ kind: "fileSearch", options: requireOptions(options, ["stores"]) }),
  imageGeneration: (options = {}) => createHostedTool({ kind: "imageGeneration", options }),
  mcp: (options) => createMcpTool(requireOptions(options, ["label", "url"])),
  computer(options) {
    const { execute, needsApproval, ...display } = requireOptions(options, [
      "displayWidth",
      "displayHeight",
      "execute",
    ]);
    checkDefinition("hosted tool computer", display, optionRules.computer);
    return createComputerTool(options);
  },
  toolSearch: (options = {}) => createHostedTool({ kind: "toolSearch", options }),
};

type HostedParts = Exclude<HostedTool, { kind: "mcp" | "computer" }>;

function createHostedTool<Kind extends HostedParts["kind"]>(
  hosted: HostedParts & { readonly kind: Kind },
): NamedTool<(typeof hostedNames)[Kind]> {
  const { kind, options } = hosted;
  checkDefinition(`hosted tool ${hostedNames[kind]}`, options, optionRules[kind]);
  const tool = defineTool({
    name: hostedNames[kind],
    description: descriptions[kind],
    input: { type: "object" },
    effects: isOutgoing(hosted) ? "send" : "none",
    reads: options.reads ?? hostedReads[kind],
  });
  return { ...tool, hosted };
}

/**
 * A provider that asks before each call of the server sends its question as a call of this tool. The approval of that
 * call is the answer, so `execute` does nothing.
 */
function createMcpTool(options: HostedMcpOptions): Tool {
  const { label, reads = hostedReads.mcp } = options;
  checkDefinition("hosted tool mcp", options, optionRules.mcp);
  const tool = defineTool({
    name: `mcp_${label}`,
    description: `Tools of the MCP server ${label}; executed by the model's provider.`,
    input: {
      type: "object",
      properties: { tool: { type: "string" }, arguments: {} },
      required: ["tool"],
    },
    effects: "send",
    reads,
    foreign: label,
    needsApproval: ({ tool: name }) => `The MCP server "${label}" would run "${name}".`,
    execute: () => "Approved.",
  });
  return { ...tool, hosted: { kind: "mcp", options: hideToken(options) } };
}

/** A request is recorded and inspected as JSON, in which the token must not appear. */
function hideToken({ token, ...options }: HostedMcpOptions): HostedMcpOptions {
  if (token === undefined) return options;
  return Object.defineProperty({ ...options }, "token", { value: token, enumerable: false });
}

function requireOptions<Options extends object>(
  options: Options,
  fields: readonly (keyof Options & string)[],
): Options {
  const missing = fields.find((field) => options?.[field] === undefined);
  if (missing === undefined) return options;
  throw new AgentError("invalid_definition", `A hosted tool of this kind needs the option \`${missing}\`.`);
}
