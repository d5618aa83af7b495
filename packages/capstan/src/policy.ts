import { formatValue, suggestName } from "./definition.ts";
import { AgentError } from "./errors.ts";
import { isRecord } from "./json.ts";

export type LimitAction = "fallback-tool" | "clarify" | "best-effort" | "last-text" | "fail";

export type Retry = {
  /** All attempts together: 2 means one repetition. */
  readonly maxAttempts: number;
  readonly baseMs: number;
  readonly factor: "linear" | "exponential";
  readonly maxMs: number;
  /** Share of the wait, 0 to 1, that is random. */
  readonly jitter: number;
};

export type Budget = {
  readonly tokens: number | "unlimited";
  /** In US dollars. */
  readonly cost: number | "unlimited";
  /** Time spent at work; waiting for a person does not count. */
  readonly seconds: number | "unlimited";
  readonly toolCalls: number | "unlimited";
};

export type ResultSize = number | "unlimited" | { readonly data: number; readonly text: number };

/** The numbers and choices of a run: plain data, fixed when the run starts and stored in `run_start`. */
export type Policy = {
  readonly maxTurns: number | "unlimited";
  /** So many turns before the last, the model is asked to come to an end; 0 is off. */
  readonly wrapUpAt: number;
  /** `no-tools`: the last turn has no tools, so that the model must answer. With `maxTurns: 1` that is the only turn. */
  readonly finalTurn: "no-tools" | "keep-tools";
  /** What becomes the answer when a limit ends the run without one; tried in order. */
  readonly onLimit: readonly LimitAction[];
  readonly budget: Budget;
  readonly toolExecution: "parallel" | "sequential";
  readonly maxConcurrency: number;
  readonly onToolError: "continue" | "stop";
  readonly retry: Retry;
  readonly toolTimeoutMs: number;
  /** The most characters of a result that a model gets to read: of JSON data and of plain text, or one number for both. */
  readonly maxToolResultSize: ResultSize;
  /** Whether the model sees a result's data, or only its message. */
  readonly includeToolData: boolean;
  readonly onAllToolsFailed: "continue" | "answer-from-knowledge" | "fallback-tool";
  /** Counts of the same call with the same result: the model is told at `nudgeAt`, the run stops at `stopAt`. */
  readonly repetition: { readonly nudgeAt: number; readonly stopAt: number };
  /** What a run remembers: the whole session, only itself, or what the client sends along. */
  readonly memory: "session" | "run" | "client";
  /**
   * The most entries of earlier history that a run begins with: it begins at something a person said, and keeps what was
   * said last whole. Summaries are not counted.
   */
  readonly historyLimit: number | "unlimited";
  /** The tokens, by an estimate, that a request should have: before it has more, older history is summarised. */
  readonly contextBudget: number | "unlimited";
  readonly requireToolFirst: boolean;
  /** Whether a model says after each turn, for people, what was done: `models: { summary }`, or the main one. */
  readonly summaries: boolean;
  /** Whether the model is asked to think first: always, never, or when the question or a failed tool calls for it. */
  readonly thinking: "auto" | "on" | "off";
  /** Whether `[n]` in an answer is a citation: as soon as something was found, from the start, or never. */
  readonly citations: "auto" | "on" | "off";
  /** For tools that need approval. */
  readonly approvals: "ask" | "allow" | "deny";
  /** When a person must agree to an effect: untrusted words and private data are there, untrusted words alone, or never. */
  readonly gate: "default" | "strict" | "off";
  readonly handoff: HandoffPolicy;
};

/** How agents hand over to each other. */
export type HandoffPolicy = {
  /** `return`: the specialist's answer comes back to whoever handed over. `transfer`: the specialist stays in charge. */
  readonly mode: "return" | "transfer";
  /** How many agents may wait for an answer, one behind the other. */
  readonly maxDepth: number;
  /** Of a handoff that is not allowed: the model is told and goes on, or the run fails. */
  readonly onDenied: "tell-model" | "fail";
};

/** A policy with gaps: what an agent, a run or an operator sets; the layer below fills the rest. */
export type PolicyOverrides = {
  readonly [Field in keyof Policy]?: Policy[Field] extends readonly unknown[]
    ? Policy[Field]
    : Policy[Field] extends object
      ? Partial<Policy[Field]>
      : Policy[Field];
};

export const defaultPolicy: Policy = {
  maxTurns: 10,
  wrapUpAt: 2,
  finalTurn: "no-tools",
  onLimit: ["best-effort"],
  budget: { tokens: "unlimited", cost: "unlimited", seconds: "unlimited", toolCalls: "unlimited" },
  toolExecution: "parallel",
  maxConcurrency: 8,
  onToolError: "continue",
  retry: { maxAttempts: 2, baseMs: 1000, factor: "linear", maxMs: 60_000, jitter: 0 },
  toolTimeoutMs: 60_000,
  maxToolResultSize: { data: 4000, text: 16_000 },
  includeToolData: true,
  onAllToolsFailed: "continue",
  repetition: { nudgeAt: 2, stopAt: 3 },
  memory: "session",
  historyLimit: "unlimited",
  contextBudget: "unlimited",
  requireToolFirst: false,
  summaries: false,
  thinking: "auto",
  citations: "auto",
  approvals: "ask",
  gate: "default",
  handoff: { mode: "return", maxDepth: 4, onDenied: "tell-model" },
};

/** Field by field, the first layer that sets a field wins; the defaults fill what is left. */
export function resolvePolicy(...layers: readonly (PolicyOverrides | undefined)[]): Policy {
  let policy = defaultPolicy;
  for (const layer of layers.toReversed()) if (layer) policy = applyOverrides(policy, layer);
  return policy;
}

function applyOverrides(policy: Policy, layer: PolicyOverrides): Policy {
  checkPolicy(layer);
  const merged: Record<string, unknown> = { ...policy };
  for (const [field, value] of Object.entries(layer)) {
    const below = merged[field];
    if (isRecord(below) && isRecord(value)) merged[field] = mergeDefined(below, value);
    else if (value !== undefined) merged[field] = value;
  }
  return merged as Policy;
}

/** `below` with what `above` sets; a field that is undefined sets nothing. */
export function mergeDefined<Fields extends object>(
  below: Fields,
  above: Partial<Fields> | undefined,
): Fields {
  return {
    ...below,
    ...Object.fromEntries(Object.entries(above ?? {}).filter(([, value]) => value !== undefined)),
  };
}

const choices: { readonly [field: string]: readonly unknown[] } = {
  finalTurn: ["no-tools", "keep-tools"],
  toolExecution: ["parallel", "sequential"],
  onToolError: ["continue", "stop"],
  onAllToolsFailed: ["continue", "answer-from-knowledge", "fallback-tool"],
  memory: ["session", "run", "client"],
  requireToolFirst: [true, false],
  summaries: [true, false],
  includeToolData: [true, false],
  thinking: ["auto", "on", "off"],
  citations: ["auto", "on", "off"],
  approvals: ["ask", "allow", "deny"],
  gate: ["default", "strict", "off"],
  factor: ["linear", "exponential"],
  mode: ["return", "transfer"],
  onDenied: ["tell-model", "fail"],
};
const limitActions: readonly string[] = ["fallback-tool", "clarify", "best-effort", "last-text", "fail"];
const unlimitedFields: readonly string[] = [
  "maxTurns",
  "tokens",
  "cost",
  "seconds",
  "toolCalls",
  "maxToolResultSize",
  "historyLimit",
  "contextBudget",
];
const integerFields: readonly string[] = [
  "maxTurns",
  "wrapUpAt",
  "maxConcurrency",
  "maxAttempts",
  "nudgeAt",
  "stopAt",
  "toolCalls",
  "historyLimit",
  "contextBudget",
  "maxDepth",
];
const minimums: { readonly [field: string]: number } = {
  maxTurns: 1,
  maxConcurrency: 1,
  maxAttempts: 1,
  toolTimeoutMs: 1,
  nudgeAt: 1,
  stopAt: 1,
  historyLimit: 1,
  contextBudget: 1,
};

/** Refuses what is not a policy, by name: a misspelt field would otherwise silently do nothing. */
export function checkPolicy(
  layer: PolicyOverrides,
  nameOf: FormatField = (field) => `policy.${field}`,
): void {
  if (!isRecord(layer))
    throw new AgentError("invalid_definition", `A policy cannot be ${formatValue(layer)}: use an object.`);
  checkOverrides(layer, defaultPolicy, nameOf);
}

/** How messages call a field. */
type FormatField = (field: string) => string;

function checkOverrides(layer: object, known: object, nameOf: FormatField): void {
  for (const [field, value] of Object.entries(layer)) {
    if (value === undefined) continue;
    const where = nameOf(field);
    if (!Object.hasOwn(known, field)) {
      throw new AgentError(
        "invalid_definition",
        `Unknown field ${where}.${suggestName(field, Object.keys(known))}`,
      );
    }
    const example: unknown = Reflect.get(known, field);
    if (isRecord(example) && isRecord(value))
      checkOverrides(value, example, (inner) => nameOf(`${field}.${inner}`));
    else if (isRecord(example) && field !== "maxToolResultSize") {
      const fields = Object.keys(example).join(", ");
      throw new AgentError(
        "invalid_definition",
        `${where} cannot be ${formatValue(value)}: use an object with ${fields}.`,
      );
    } else if (!isAllowed(field, value)) {
      throw new AgentError(
        "invalid_definition",
        `${where} cannot be ${formatValue(value)}: ${formatExpected(field)}.`,
      );
    }
  }
}

function isAllowed(field: string, value: unknown): boolean {
  if (field === "onLimit")
    return Array.isArray(value) && value.every((answer) => limitActions.includes(answer));
  if (Object.hasOwn(choices, field)) return choices[field]?.includes(value) ?? false;
  if (value === "unlimited") return unlimitedFields.includes(field);
  if (typeof value !== "number" || !Number.isFinite(value)) return false;
  if (integerFields.includes(field) && !Number.isInteger(value)) return false;
  return value >= (minimums[field] ?? 0) && !(field === "jitter" && value > 1);
}

function formatExpected(field: string): string {
  if (field === "onLimit") return `use a list of ${limitActions.join(", ")}`;
  if (Object.hasOwn(choices, field)) return `use ${choices[field]?.join(", ")}`;
  const kind = integerFields.includes(field) ? "a whole number" : "a number";
  const most = field === "jitter" ? " to 1" : "";
  return `use ${kind} from ${minimums[field] ?? 0}${most}${unlimitedFields.includes(field) ? ' or "unlimited"' : ""}`;
}
