import {
  type Agent,
  type AgentContext,
  AgentError,
  agentTool,
  defineAgent,
  defineTool,
  isRecord,
  type Tool,
  type ToolCall,
} from "capstan";
import { formatDeclarations } from "./format-declarations.ts";
import { createProgramModel } from "./program-model.ts";
import { maxResultSize } from "./program-results.ts";
import type { ProgramLimits } from "./sandbox/protocol.ts";

export type CodeModeOptions<Tools extends readonly Tool[] = readonly Tool[], Name extends string = string> = {
  /** The tools that a program can call, whether or not the agent has them too. */
  readonly tools: Tools;
  /** Default: `run_code`. */
  readonly name?: Name;
  readonly limits?: Partial<ProgramLimits>;
};

export const defaultLimits: ProgramLimits = {
  timeoutMs: 5000,
  memoryMb: 32,
  maxCalls: 200,
  maxProgramSize: 50_000,
  maxOutputSize: 200_000,
};

type CodeModeTool<Tools extends readonly Tool[], Name extends string> = Tool<
  ToolCall<Name, { code: string }> | NonNullable<Tools[number]["~types"]>["call"],
  AgentContext<Tools[number]>
>;

/**
 * Creates a tool with which the model calls the others from a JavaScript program. Each call of the tool is a nested run
 * whose model is the program: its calls are facts, need the same approvals, spend the same budget and are not repeated
 * after a crash. Throws `invalid_definition`.
 */
export function codeMode<const Tools extends readonly Tool[], const Name extends string = "run_code">(
  options: CodeModeOptions<Tools, Name>,
): CodeModeTool<Tools, Name>;
export function codeMode(options: CodeModeOptions): Tool {
  const { tools, name = "run_code", limits = {}, ...others } = options;
  checkOptions({ tools, limits, others });
  const programLimits = { ...defaultLimits, ...limits };
  const createAgent = (code: string): Agent =>
    defineAgent({
      name,
      model: createProgramModel({ code, tools: tools.map((tool) => tool.name), limits: programLimits }),
      tools,
      policy: createPolicy(programLimits),
    });
  const agent = createAgent("");
  const foreign = mergeOrigins(tools);
  const instructions = tools.flatMap((tool) => tool.instructions ?? []).join("\n\n");
  const tool = defineTool({
    name,
    description: formatDescription(tools, programLimits),
    input: {
      type: "object",
      properties: { code: { type: "string", minLength: 1, description: "The program, in JavaScript." } },
      required: ["code"],
      additionalProperties: false,
    },
    // The call itself has no effect and reads nothing; each call of the program is checked separately.
    effects: "none",
    reads: [],
    retry: { maxAttempts: 1 },
    timeoutMs: Number.MAX_SAFE_INTEGER,
    ...(foreign !== undefined && { foreign }),
    ...(instructions !== "" && { instructions }),
    execute: ({ code }, context) =>
      agentTool(createAgent(code), { maxTurns: "unlimited" }).execute?.({ prompt: code }, context),
  });
  return { ...(tool as Tool), agent };
}

/** The turns of a program are limited by its calls, and repeating a call is its own decision. */
function createPolicy({ maxCalls }: ProgramLimits): Agent["policy"] {
  return {
    maxTurns: "unlimited",
    onLimit: ["fail"],
    repetition: { nudgeAt: maxCalls + 1, stopAt: maxCalls + 1 },
    maxToolResultSize: maxResultSize,
    thinking: "off",
    citations: "off",
  };
}

/** The description quotes the descriptions of the tools, so it is as untrusted as they are. */
function mergeOrigins(tools: readonly Tool[]): Tool["foreign"] {
  const origins = new Set(tools.flatMap(({ foreign }) => foreign || []));
  const [origin] = origins;
  return origins.size > 1 ? true : origin;
}

function formatDescription(tools: readonly Tool[], { maxCalls }: ProgramLimits): string {
  return `Runs a JavaScript program that calls tools, and returns the value that the program returns. Use it for tasks with several calls, with loops, or with large results: you see the returned value only.

The program is the body of an async function: use \`await tools.name({ … })\`, \`Promise.all\` for calls at the same time, and \`return\` for the answer, which should be short text or JSON. A call that fails or is denied throws an Error with a \`code\`. At most ${maxCalls} calls. There are no imports, files, network or timers, and the date does not change while the program runs.

\`\`\`ts
${formatDeclarations(tools)}
\`\`\``;
}

type CheckedOptions = Required<Pick<CodeModeOptions, "tools" | "limits">> & { readonly others: object };

function checkOptions({ tools, limits, others }: CheckedOptions): void {
  const fail = (message: string): never => {
    throw new AgentError("invalid_definition", message);
  };
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) fail(`Unknown option "${unknown}" of codeMode: use tools, name and limits.`);
  if (!Array.isArray(tools) || tools.length === 0)
    fail("codeMode needs `tools`: a list of the tools that programs can call.");
  const hosted = tools.find((tool) => tool?.hosted);
  if (hosted)
    fail(`codeMode cannot have the tool "${hosted.name}": the provider executes it. Give it to the agent.`);
  if (!isRecord(limits)) fail("limits of codeMode must be an object.");
  for (const [field, value] of Object.entries(limits)) {
    if (!Object.hasOwn(defaultLimits, field))
      fail(`Unknown limit "${field}" of codeMode: use ${Object.keys(defaultLimits).join(", ")}.`);
    if (!Number.isInteger(value) || (value ?? 0) < 1)
      fail(`limits.${field} of codeMode cannot be ${JSON.stringify(value)}: use a whole number from 1.`);
  }
}
