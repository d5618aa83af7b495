import type { Agent } from "./agent.ts";
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
} from "./definition.ts";
import { AgentError, type ErrorData } from "./errors.ts";
import type { Fragment, Part, UiHint } from "./history.ts";
import { isRecord, type Json } from "./json.ts";
import { checkPolicy, type ResultSize, type Retry } from "./policy.ts";
import { type Infer, type JsonSchema, type Schema, type SchemaInput, toSchema } from "./schema/schema.ts";
import type { Blob } from "./store.ts";

/** What a tool changes. It decides whether calls keep their order, are retried, and run again after a crash. */
export type Effects = "none" | "ui" | "state" | "send";

/** What a tool may bring into the conversation: words of strangers, or what not everybody may know. */
export type Reads = "public" | "private" | "untrusted";

/** What a tool asks a person in the middle of a call. */
export type Question = {
  readonly message: string;
  /** JSON Schema of the wanted answer; left out, a yes or no with any value will do. */
  readonly schema?: JsonSchema;
  /** A page where the person does what is asked. */
  readonly url?: string;
  /** The tool's own: it comes back with the answer and is not shown. It is stored, so no place for secrets. */
  readonly state?: Json;
};

/** What a person said to a question. */
export type Reply =
  | { readonly approved: true; readonly value: Json }
  | { readonly approved: false; readonly reason?: string };

/** A reply as the tool gets it, with the `state` of its question. */
export type Answer = Reply & { readonly state?: Json };

/** What a tool is given beside its input. */
export type ToolContext = {
  /** Aborted when the run is cancelled or the tool's time is up. */
  readonly signal: AbortSignal;
  readonly runId: string;
  readonly sessionId: string;
  readonly callId: string;
  /** The same for every attempt at this call, also after a crash: hand it to services that accept one. */
  readonly idempotencyKey: string;
  /** The `context` of the run: who asks, access rights, dependencies. */
  readonly context: unknown;
  /** What people said to the questions of this call so far, in the order asked. */
  readonly answers: readonly Answer[];
  /** Shows how far a long call is; live only, never stored. */
  progress(data: Json): void;
  /** What was too large for a result of this session. */
  readBlob(handle: string): Promise<Blob | undefined>;
};

/** The full form of what a tool may return. `content` is for the model, `ui` for people. */
export type ToolReturn = {
  readonly content?: string | readonly Part[];
  readonly data?: unknown;
  readonly message?: string;
  readonly ui?: UiHint;
  readonly contexts?: readonly Fragment[];
  readonly affected?: Json;
  readonly error?: string | { readonly code?: string; readonly message: string };
  /** Of an `error`: whether another attempt may help. */
  readonly retryable?: boolean;
  /** Alone: the call has no result yet. A person is asked, and the tool is executed again with `answers`. */
  readonly ask?: Question;
};

/** What a person might say, with `{slots}`, and the input it means: `{ phrase: "weather in {city} now", input: { when: "now" } }`. */
export type ToolExample = {
  readonly phrase: string;
  /** A slot named like an argument becomes that argument; another is written into a value as `{slot}`. */
  readonly input?: { readonly [name: string]: Json };
};

type ToolSettings = {
  readonly name: string;
  readonly description: string;
  /** They are shown to the model beside the schema; the offline model understands sentences by them. */
  readonly examples?: readonly ToolExample[];
  /** Left out: runs in parallel, is not retried, and is not run again after a crash. */
  readonly effects?: Effects;
  /** Left out: private, for what a program reads is seldom meant for all. Declare `untrusted` where strangers write. */
  readonly reads?: readonly Reads[];
  /** Its name and description are a stranger's words, which the model reads from the first turn on (MCP). */
  readonly foreign?: boolean;
  /** May run twice with the same key without harm: it is retried, and run again after a crash. */
  readonly idempotent?: boolean;
  readonly timeoutMs?: number;
  readonly retry?: Partial<Retry>;
  /** For so long, the same call in the same session is answered with the result it had. */
  readonly cacheMs?: number;
  /** The most characters of a result that the model gets to read; the rest can be read with a handle. */
  readonly maxResultSize?: ResultSize;
  /** What the model gets to read: everything, only the message, or what the function makes of it. */
  readonly resultForModel?: "full" | "summary" | ((outcome: Outcome) => string);
};

/** A tool as the runtime holds it. Without `execute` the client runs it and the run waits for its answer. */
export interface Tool extends ToolSettings {
  readonly schema: Schema;
  /** What a result must be; one that is not is an error. */
  readonly outputSchema?: Schema;
  // Methods, whose parameters are compared leniently: that makes a tool with typed input also a `Tool`.
  execute?(input: unknown, context: ToolContext): unknown;
  /** The agent that answers its calls, of a tool made by `agentTool`. */
  readonly agent?: Agent;
  needsApproval?(input: unknown, asking: { readonly context: unknown }): Approval | Promise<Approval>;
  /** Where a call goes or whom it reaches. What the person named themselves, the safety gate lets pass. */
  target?(input: unknown): string | undefined;
}

/** Whether a person must agree first; a text is the reason that person reads. */
type Approval = boolean | string;

export interface ToolDefinition<Input extends SchemaInput> extends ToolSettings {
  readonly input: Input;
  /** What the result must be: of a text the text, else the data. One that is not is an error to the model. */
  readonly output?: SchemaInput;
  /** What the model is shown, for a library's schema that does not give its JSON Schema (valibot), or instead of it. */
  readonly jsonSchema?: object;
  /** Where a call goes or whom it reaches (a URL, an address). What the person named, the safety gate lets pass. */
  target?(input: Infer<Input>): string | undefined;
  /** A function decides from the validated input. */
  readonly needsApproval?:
    | Approval
    | ((input: Infer<Input>, asking: { readonly context: unknown }) => Approval | Promise<Approval>);
}

/** What is run: it gets its input validated, and returns a string, any value, or a `ToolReturn`. */
export interface Executable<Input extends SchemaInput, Output> {
  /** A throw, or `{ error }`, is a failure that the model gets to see. */
  execute(input: Infer<Input>, context: ToolContext): Output;
}

/** Defines a tool. Without `execute` it is one that the client runs. */
export function defineTool<const Input extends SchemaInput, Output>(
  definition: ToolDefinition<Input> & Executable<Input, Output>,
): Omit<Tool, "execute"> & Executable<Input, Output>;
export function defineTool<const Input extends SchemaInput>(
  definition: ToolDefinition<Input> & Partial<Executable<Input, unknown>>,
): Tool;
export function defineTool(
  definition: Omit<ToolDefinition<object>, "needsApproval"> & { needsApproval?: unknown },
): object {
  const { input, output, jsonSchema, needsApproval, ...settings } = definition;
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
  const asks = typeof needsApproval === "function" ? needsApproval : () => needsApproval;
  const plain = toSchema(input, { owner: `the tool "${name}"`, jsonSchema });
  const { examples } = settings;
  const schema = examples ? { ...plain, json: { ...plain.json, examples } } : plain;
  const outputSchema = output && toSchema(output, { owner: `the output of the tool "${name}"` });
  return {
    ...settings,
    schema,
    ...(outputSchema && { outputSchema }),
    ...(needsApproval ? { needsApproval: asks } : {}),
  };
}

const toolFields: Readonly<Record<keyof ToolDefinition<object> | "execute", FieldRule>> = {
  name: anyValue,
  description: anyValue,
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
  foreign: booleanField,
  idempotent: booleanField,
  timeoutMs: toMinimumRule(1),
  retry: anyValue,
  cacheMs: toMinimumRule(0),
  maxResultSize: {
    hint: 'a number from 0, "unlimited", or an object with both `data` and `text`',
    accepts: isResultSize,
  },
  resultForModel: {
    hint: '"full", "summary" or a function',
    accepts: (value) => value === "full" || value === "summary" || typeof value === "function",
  },
  needsApproval: {
    hint: "true, false, a reason in words, or a function",
    // A blank reason would pass for none.
    accepts: (value) =>
      typeof value === "string" ? value.trim() !== "" : ["boolean", "function"].includes(typeof value),
  },
};

function isExample(value: unknown): boolean {
  return (
    isRecord(value) &&
    typeof value.phrase === "string" &&
    (value.input === undefined || isRecord(value.input))
  );
}

function isResultSize(value: unknown): boolean {
  if (!isRecord(value)) return value === "unlimited" || isAtLeast(0, value);
  const { data, text, ...others } = value;
  return isAtLeast(0, data) && isAtLeast(0, text) && Object.keys(others).length === 0;
}

/** Whether a call may be made again without asking anyone: after a failure, or after a crash in the middle of it. */
export function isRepeatable(tool: Pick<Tool, "effects" | "idempotent">): boolean {
  return tool.effects === "none" || tool.idempotent === true;
}

/** Whether calls must keep their order: only a declared effect makes a tool wait for its turn. */
export function isOrdered(tool: Pick<Tool, "effects">): boolean {
  return tool.effects !== undefined && tool.effects !== "none";
}

/**
 * Whether calls leave more than words behind: only those are a matter for the safety gate. What is declared otherwise,
 * by a tool not made with `defineTool`, counts as an effect.
 */
export function hasEffect({ effects }: Pick<Tool, "effects">): boolean {
  return effects !== "none" && effects !== "ui";
}

/** What became of a call, whatever the tool returned or threw. */
export type Outcome = {
  readonly status: "ok" | "error" | "denied" | "skipped" | "interrupted";
  readonly content: string | readonly Part[];
  readonly data?: Json;
  readonly error?: ErrorData;
  readonly ui?: UiHint;
  readonly contexts?: readonly Fragment[];
  readonly affected?: Json;
  /** A line about it, beside the content. */
  readonly message?: string;
  /** Bytes that the content only names. They never go into a fact. */
  readonly binary?: { readonly mediaType: string; readonly bytes: Uint8Array };
};
