import {
  anyValue,
  booleanField,
  checkDefinition,
  type FieldRule,
  formatValue,
  functionField,
  isAtLeast,
  objectField,
  schemaField,
  toChoiceRule,
  toListRule,
  toMinimumRule,
} from "../base/definition.ts";
import { AgentError, type ErrorData } from "../base/errors.ts";
import { isRecord, type Json, type JsonForm } from "../base/json.ts";
import {
  type Infer,
  type InferInput,
  type JsonSchema,
  type Schema,
  type SchemaInput,
  toSchema,
} from "../schema/schema.ts";
import type { Agent } from "./agent.ts";
import type { Fragment, Part, UiHint } from "./history.ts";
import type { HostedTool } from "./hosted-tool.ts";
import {
  getIsolatedTools,
  type IsolatedExecute,
  type Isolation,
  locateTool,
  type ToolLocation,
} from "./isolation.ts";
import { checkPolicy, type ResultSize, type Retry } from "./policy.ts";
import type { Provenance } from "./provenance.ts";
import type { Blob, Records } from "./records.ts";
import { isExample, splitPhrases, type ToolExample } from "./tool-examples.ts";

/** The kind of change a tool makes. Decides whether calls are ordered, retried, and repeated after a crash. */
export type Effects = "none" | "ui" | "state" | "send";

/** The kind of data a tool brings into the conversation; `untrusted` is content that third parties can write. */
export type Reads = "public" | "private" | "untrusted";

/** A question that a tool asks the user in the middle of a call. */
export type Question = {
  readonly message: string;
  /** JSON Schema of the answer; without it, any value is accepted with an approval. */
  readonly schema?: JsonSchema;
  /** A page on which the user completes the request. */
  readonly url?: string;
  /** Private data of the tool, returned with the answer and never displayed. It is stored: do not put secrets here. */
  readonly state?: Json;
};

/** The user's reply to a question. */
export type Reply =
  | { readonly approved: true; readonly value: Json }
  | { readonly approved: false; readonly reason?: string };

/** A reply as the tool receives it, with the `state` of its question. */
export type Answer = Reply & { readonly state?: Json };

/** The types of a tool's valid calls: in results and hooks, and in the fact that a call starts. */
export interface ToolCall<Name extends string = string, Input = Json> {
  readonly call: { readonly name: Name; readonly input: Input };
  readonly start: { readonly name: Name; readonly arguments: Input };
}

/** The run that calls a tool. */
export type CallingRun = {
  /** The agent in charge of the run; for a nested run, of its outermost one. */
  readonly agent: string;
  /** The user's time zone. */
  readonly timeZone: string;
  /** By the clock of the run, in milliseconds since the epoch. */
  readonly now: number;
};

/** The second argument of `execute`. Annotate it to say what the tool needs: `{ context }: ToolContext<{ db: Db }>`. */
export type ToolContext<Context = unknown> = {
  /** Aborted when the run is cancelled or the call times out. */
  readonly signal: AbortSignal;
  readonly runId: string;
  readonly sessionId: string;
  readonly callId: string;
  /** The same for every attempt at this call, even after a crash. Pass it to services that accept one. */
  readonly idempotencyKey: string;
  /** The agent that called the tool. */
  readonly agent?: string;
  /**
   * Who wrote the arguments: the operator, or the least trustworthy author of what the model had read when it called.
   * Store it with what you keep of them.
   */
  readonly provenance?: Provenance;
  /** The records of the store, for data that outlives the session. Missing in an isolated tool. */
  readonly records?: Records;
  /** The `context` of the run: the current user, access rights, dependencies. */
  readonly context: Context;
  /** What the run knows when the call starts. Absent where a tool is called outside of a run, and in an isolated tool. */
  readonly run?: CallingRun;
  /** The answers to the questions of this call so far, in order. */
  readonly answers: readonly Answer[];
  /** Reports the progress of a long call as a live event; never stored. */
  progress(data: Json): void;
  /** Reads a result of this session that was too large for the model. */
  readBlob(handle: string): Promise<Blob | undefined>;
};

/** The full form of a tool's return value. `content` is for the model, `ui` for the user interface. */
export type ToolReturn = {
  readonly content?: string | readonly Part[];
  readonly data?: unknown;
  readonly message?: string;
  readonly ui?: UiHint;
  readonly contexts?: readonly Fragment[];
  readonly affected?: Json;
  readonly error?: string | { readonly code?: string; readonly message: string };
  /** Whether another attempt may succeed. Only with `error`. */
  readonly retryable?: boolean;
  /** Labels of this result, in addition to the tool's. */
  readonly reads?: readonly Reads[];
  /** Suspends the call to ask the user; the tool is then executed again with `answers`. No other field may be set. */
  readonly ask?: Question;
};

type ToolSettings = {
  readonly name: string;
  readonly description: string;
  /** Added to the instructions of every agent that has the tool, after the agent's own. */
  readonly instructions?: string;
  /** What users say to have the tool called, for the offline model and for `search_tools`. No provider receives it. */
  readonly examples?: readonly ToolExample[];
  /** Its results may have `contexts`: the instructions say how to cite from the first turn on. */
  readonly citable?: boolean;
  /** Default: the tool runs in parallel, is not retried, and is not repeated after a crash. */
  readonly effects?: Effects;
  /**
   * The model does not get the tool until it has found it with `search_tools`. False: it always gets the tool, also if
   * the agent has more tools than `policy.deferToolsAbove`.
   */
  readonly defer?: boolean;
  /** Default: `private`. Add `untrusted` if third parties can write the content, such as web pages or mail. */
  readonly reads?: readonly Reads[];
  /**
   * The name, description and schema come from a third party (MCP) and are not approved, so the model reads
   * untrusted text from the first turn. A string names that party: its own tools can be called as if it were trusted.
   */
  readonly foreign?: boolean | string;
  /** Safe to run twice with the same idempotency key: the tool is retried, and repeated after a crash. */
  readonly idempotent?: boolean;
  readonly timeoutMs?: number;
  readonly retry?: Partial<Retry>;
  /** How long an identical call in the same session reuses the result. */
  readonly cacheMs?: number;
  /** Maximum characters of a result that the model receives; it can read the rest with a handle. */
  readonly maxResultSize?: ResultSize;
  /** The form in which the model receives a result: complete, its message only, or the text the function returns. */
  readonly resultForModel?: "full" | "summary" | ((outcome: Outcome) => string);
  /** A tool that providers may define themselves: a model that knows it gets its name only, others the whole definition. */
  readonly native?: NativeTool;
};

/** The tools that a provider defines and the application executes. `memory` is Anthropic's, with the same arguments. */
export type NativeTool = "memory";

/**
 * A defined tool. Without `execute`, the client runs it and the run waits for the result. A plain `Tool` is any tool:
 * nothing is known of its calls, and it fits any agent.
 */
// biome-ignore lint/suspicious/noExplicitAny: only `any` accepts every context and is accepted for every context
export interface Tool<Call extends ToolCall = ToolCall, Context = any> extends ToolSettings {
  /** Types only; there is no such field. `context` is a function, because a tool accepts more than it needs. */
  readonly "~types"?: { readonly call: Call; readonly context: (context: Context) => void } | undefined;
  readonly schema: Schema;
  /** Results are validated against it; an invalid one becomes an error. */
  readonly outputSchema?: Schema;
  // Methods, because their parameters are bivariant: a tool with typed input is then assignable to `Tool`.
  execute?(input: unknown, context: ToolContext): unknown;
  /** Where the process of an isolated call finds the tool. */
  readonly isolate?: ToolLocation;
  /** The provider executes the tool, or defines its actions: see `hostedTools`. */
  readonly hosted?: HostedTool;
  /** The skills that the tool can load. */
  readonly skills?: readonly SkillInfo[];
  /** The agent that answers the calls of a tool made with `agentTool`. */
  readonly agent?: Agent;
  /** The agent works in the background: a call returns at once. */
  readonly background?: true;
  needsApproval?(input: unknown, options: { readonly context: unknown }): Approval | Promise<Approval>;
  /** The destination of a call. The safety gate allows destinations that the user named. */
  target?(input: unknown): string | undefined;
  /** See `ToolDefinition`. */
  pattern?(input: unknown): string | undefined;
  /** See `ToolDefinition`. */
  changes?(input: unknown): boolean;
}

/** A skill that a tool can load. The description of an external one is untrusted. */
export type SkillInfo = {
  readonly name: string;
  readonly description: string;
  readonly provenance: "operator" | "external";
};

/** A reason to ask the user, and what the call would do, such as a diff. `ui` is stored and shown with the request. */
export type ApprovalRequest = { readonly reason: string; readonly ui?: UiHint };

/** Whether the user must approve the call first; a string is the reason shown to the user. */
export type Approval = boolean | string | ApprovalRequest;

export interface ToolDefinition<Input extends SchemaInput, Name extends string = string, Context = unknown>
  extends ToolSettings {
  readonly name: Name;
  readonly input: Input;
  /** Schema of the result: of its text if it is a text, otherwise of its data. An invalid result becomes an error. */
  readonly output?: SchemaInput;
  /**
   * Executes each call in a separate process, so that a blocking loop or exhausted memory only fails the call. That process
   * imports the tool's module again: closures over run-time values do not work there, and the module must not start
   * anything when it is imported.
   */
  readonly isolate?: true | Isolation;
  /** JSON Schema for the model. Required for libraries that do not provide one (valibot); overrides it otherwise. */
  readonly jsonSchema?: object;
  /** Returns the destination of a call (a URL, an address). The safety gate allows destinations that the user named. */
  target?(input: Infer<Input>): string | undefined;
  /**
   * Names a wider set of calls that this call belongs to, such as `git status *`, which the user can then allow for the
   * session. Calls with the same name are in the same set, so the name must say exactly what they have in common.
   */
  pattern?(input: Infer<Input>): string | undefined;
  /**
   * Whether a call changes anything, for a tool that can also only read. A call that does not is not subject to the safety
   * gate. Default: every call of a tool with effects changes something.
   */
  changes?(input: Infer<Input>): boolean;
  /** A function receives the validated input. */
  readonly needsApproval?:
    | boolean
    | string
    | ((input: Infer<Input>, options: { readonly context: Context }) => Approval | Promise<Approval>);
}

/** The implementation of a tool. It receives validated input and returns a string, any value, or a `ToolReturn`. */
export interface Executable<Input, Output, Context = unknown> {
  /** A thrown error, or a returned `{ error }`, is a failure that is reported to the model. */
  execute(input: Input, context: ToolContext<Context>): Output;
}

/** A tool with an implementation that can be called. */
export interface ExecutableTool<Call extends ToolCall, Context, Input, Output>
  extends Omit<Tool<Call, Context>, "execute">,
    Executable<Input, Output, Context> {}

/**
 * Defines a tool. Without `execute`, the client runs it. The context that it needs is taken from the annotation of the
 * second parameter of `execute` or `needsApproval`. Throws `invalid_definition`.
 */
export function defineTool<
  const Name extends string,
  const Input extends SchemaInput,
  Output,
  Context = unknown,
>(
  definition: ToolDefinition<Input, Name, Context> & Executable<Infer<Input>, Output, Context>,
): ExecutableTool<ToolCall<Name, JsonForm<InferInput<Input>>>, Context, Infer<Input>, Output>;
export function defineTool<const Name extends string, const Input extends SchemaInput, Context = unknown>(
  definition: ToolDefinition<Input, Name, Context> & Partial<Executable<Infer<Input>, unknown, Context>>,
): Tool<ToolCall<Name, JsonForm<InferInput<Input>>>, Context>;
export function defineTool(
  definition: Omit<ToolDefinition<object>, "needsApproval"> & { needsApproval?: unknown },
): object {
  const { input, output, jsonSchema, needsApproval, isolate, examples: own = [], ...settings } = definition;
  const { name, description, retry } = settings;
  const owner = `tool ${formatValue(name)}`;
  checkDefinition(owner, definition, toolFields);
  checkPolicy(retry === undefined ? {} : { retry }, (field) => `${field} of the ${owner}`);
  if (typeof name !== "string" || !name.trim() || name.length > 128) {
    const message = `A tool needs a name of 1 to 128 characters, not ${JSON.stringify(name)}.`;
    throw new AgentError("invalid_definition", message);
  }
  if (typeof description !== "string") {
    throw new AgentError(
      "invalid_definition",
      `The tool "${name}" needs a description for the model to read.`,
    );
  }
  const location = isolate && locateTool(name, isolate);
  if (location) registerIsolated(name, Reflect.get(definition, "execute"));
  const checkApproval = typeof needsApproval === "function" ? needsApproval : () => needsApproval;
  const declared = toSchema(input, { owner: `the tool "${name}"`, jsonSchema });
  const { json, phrases } = splitPhrases(declared.json);
  const examples = [...phrases, ...own];
  const outputSchema = output && toSchema(output, { owner: `the output of the tool "${name}"` });
  return {
    ...settings,
    ...(examples.length > 0 && { examples }),
    schema: { ...declared, json },
    ...(outputSchema && { outputSchema }),
    ...(location && { isolate: location }),
    ...(needsApproval ? { needsApproval: checkApproval } : {}),
  };
}

function registerIsolated(name: string, execute: IsolatedExecute | undefined): void {
  if (!execute) {
    const message = `The tool "${name}" has no \`execute\`: the client runs it, so it cannot be isolated.`;
    throw new AgentError("invalid_definition", message);
  }
  getIsolatedTools()?.set(name, execute);
}

function isIsolation(value: unknown): boolean {
  if (value === true) return true;
  if (!isRecord(value)) return false;
  const { module, memoryMb, ...others } = value;
  const isModule = module === undefined || (typeof module === "string" && module.startsWith("file:"));
  return isModule && (memoryMb === undefined || isAtLeast(8, memoryMb)) && Object.keys(others).length === 0;
}

const toolFields: Readonly<Record<keyof ToolDefinition<object> | "execute", FieldRule>> = {
  name: anyValue,
  description: anyValue,
  instructions: { hint: "a string", accepts: (value) => typeof value === "string" },
  examples: {
    hint: "a list of `{ phrase, input }`",
    accepts: (value) => Array.isArray(value) && value.every(isExample),
  },
  input: anyValue,
  output: schemaField,
  jsonSchema: objectField,
  execute: functionField,
  effects: toChoiceRule(["none", "ui", "state", "send"] satisfies Effects[]),
  reads: toListRule(["public", "private", "untrusted"] satisfies Reads[]),
  target: functionField,
  pattern: functionField,
  changes: functionField,
  native: toChoiceRule(["memory"] satisfies NativeTool[]),
  foreign: {
    hint: "true, false or the name of its origin",
    accepts: (value) => typeof value === "boolean" || typeof value === "string",
  },
  citable: booleanField,
  defer: booleanField,
  idempotent: booleanField,
  timeoutMs: toMinimumRule(1),
  retry: anyValue,
  cacheMs: toMinimumRule(0),
  isolate: {
    hint: "true, or an object with `module` (such as `import.meta.url`) and `memoryMb` (from 8)",
    accepts: isIsolation,
  },
  maxResultSize: {
    hint: 'a number from 0, "unlimited", or an object with both `data` and `text`',
    accepts: isResultSize,
  },
  resultForModel: {
    hint: '"full", "summary" or a function',
    accepts: (value) => value === "full" || value === "summary" || typeof value === "function",
  },
  needsApproval: {
    hint: "true, false, a reason, or a function",
    // A blank reason would be falsy and disable the approval.
    accepts: (value) =>
      typeof value === "string" ? value.trim() !== "" : ["boolean", "function"].includes(typeof value),
  },
};

function isResultSize(value: unknown): boolean {
  if (!isRecord(value)) return value === "unlimited" || isAtLeast(0, value);
  const { data, text, ...others } = value;
  return isAtLeast(0, data) && isAtLeast(0, text) && Object.keys(others).length === 0;
}

/** The name of the built-in tool that finds deferred tools. */
export const searchToolsName = "search_tools";

/** Whether a call may be repeated automatically after a failure or a crash. */
export function isRepeatable(tool: Pick<Tool, "effects" | "idempotent">): boolean {
  return tool.effects === "none" || tool.idempotent === true;
}

/** Whether calls run in order. Only tools with a declared effect do. */
export function isOrdered(tool: Pick<Tool, "effects">): boolean {
  return tool.effects !== undefined && tool.effects !== "none";
}

/**
 * Whether calls have side effects, which makes them subject to the safety gate. An unknown value, from a tool not made
 * with `defineTool`, counts as an effect.
 */
export function hasEffect({ effects }: Pick<Tool, "effects">): boolean {
  return effects !== "none" && effects !== "ui";
}

/** The normalized outcome of a call, whether the tool returned or threw. */
export type Outcome = {
  readonly status: "ok" | "error" | "denied" | "skipped" | "interrupted";
  readonly content: string | readonly Part[];
  readonly data?: Json;
  readonly error?: ErrorData;
  readonly ui?: UiHint;
  readonly contexts?: readonly Fragment[];
  readonly affected?: Json;
  /** A one-line description of the result. */
  readonly message?: string;
  /** The tool returned more data than is kept: the content ends early. */
  readonly isPartial?: true;
  /** Labels of this result, in addition to the tool's. */
  readonly reads?: readonly Reads[];
  /** Binary data that the content only refers to. Never stored in a fact. */
  readonly binary?: { readonly mediaType: string; readonly bytes: Uint8Array };
};
