import { formatValue, suggestName } from "../base/definition.ts";
import { AgentError } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";

export type LimitAction = "fallback-tool" | "clarify" | "best-effort" | "last-text" | "fail";

export type Retry = {
  /** Total number of attempts: 2 means one retry. */
  readonly maxAttempts: number;
  readonly baseMs: number;
  readonly factor: "linear" | "exponential";
  readonly maxMs: number;
  /** Random share of the wait, from 0 to 1. */
  readonly jitter: number;
};

/** How a failed model call is repeated. */
export type ModelRetry = {
  /** Total attempts of a call whose answers are unusable: empty, malformed or cut off. */
  readonly attempts: number;
  /** The first wait; it doubles with each attempt. Half of each wait is random. */
  readonly minMs: number;
  /** The longest wait of a suspended run. A run that cannot suspend waits at most 10 seconds between attempts. */
  readonly maxMs: number;
  /**
   * How long an outage of the model may last: while the provider cannot be reached, is overloaded, limits the rate or
   * stalls, the call is repeated. `auto`: 90 seconds, or a day under an engine, which suspends the run between attempts.
   * Under an engine, answers that are cut off count as an outage too.
   */
  readonly patienceMs: number | "auto";
};

export type Budget = {
  readonly tokens: number | "unlimited";
  /** In US dollars. */
  readonly cost: number | "unlimited";
  /** Running time; time spent waiting for the user does not count. */
  readonly seconds: number | "unlimited";
  readonly toolCalls: number | "unlimited";
  /** Model calls of the run and of its nested runs, including failed ones and summaries. */
  readonly modelCalls: number | "unlimited";
  /** Nested runs that the run and its nested runs start. */
  readonly agents: number | "unlimited";
};

export type ResultSize = number | "unlimited" | { readonly data: number; readonly text: number };

/** The settings of a run: plain data, fixed when the run starts and stored in `run_start`. */
export type Policy = {
  readonly maxTurns: number | "unlimited";
  /** How many turns before the last one the model gets a note to wrap up; 0 disables it. */
  readonly wrapUpAt: number;
  /** `no-tools`: the last turn offers no tools, so the model must answer. With `maxTurns: 1`, that is the only turn. */
  readonly finalTurn: "no-tools" | "keep-tools";
  /** How to produce an answer when a limit ends the run; tried in order. */
  readonly onLimit: readonly LimitAction[];
  /**
   * At the model's output limit: ask it to continue a plain text and join the parts, at most five times, or stop. A run
   * whose text is cut off in the end has the status `limit`.
   */
  readonly onOutputLimit: "continue" | "stop";
  readonly budget: Budget;
  readonly toolExecution: "parallel" | "sequential";
  readonly maxConcurrency: number;
  readonly onToolError: "continue" | "stop";
  /** How a failed tool call is repeated. */
  readonly retry: Retry;
  readonly modelRetry: ModelRetry;
  readonly toolTimeoutMs: number;
  /** Maximum characters of a result that the model receives: one number, or one each for JSON data and plain text. */
  readonly maxToolResultSize: ResultSize;
  /** Whether the model receives a result's data, or only its message. */
  readonly includeToolData: boolean;
  /**
   * Text that the model writes next to calls. `keep`: it is streamed, stays in the history and is sent back. `drop`: it is
   * discarded, and the text of an answer is streamed in one piece, when it is known that no call follows.
   */
  readonly textWithCalls: "keep" | "drop";
  /**
   * An agent with more tools than this sends none of them until the model has found them with `search_tools`, except
   * those with `defer: false`.
   */
  readonly deferToolsAbove: number | "unlimited";
  readonly onAllToolsFailed: "continue" | "answer-from-knowledge" | "fallback-tool";
  /** Repetitions of a call with the same result: at `nudgeAt` the model gets a note, at `stopAt` the run ends. */
  readonly repetition: { readonly nudgeAt: number; readonly stopAt: number };
  /** The history a run starts with: the whole session, nothing (`run`), or the entries the client sends. */
  readonly memory: "session" | "run" | "client";
  /**
   * Maximum entries of earlier history that a run starts with. The history is cut before a user message, and the latest
   * exchange is always kept whole. Summaries are not counted.
   */
  readonly historyLimit: number | "unlimited";
  /** Estimated tokens per request. Older history is compacted before a request exceeds it. */
  readonly contextBudget: number | "unlimited";
  /** Whether the first request requires a tool call. `auto`: unless the message is small talk or arithmetic. */
  readonly requireToolFirst: boolean | "auto";
  /** Whether a model (`models.summary`, or the main one) describes each turn for the user after it ends. */
  readonly summaries: boolean;
  /** Whether the model reasons before it answers: always, never, or if the question or a failed tool calls for it. */
  readonly thinking: "auto" | "on" | "off";
  /** Whether `[n]` in an answer is a citation: once tools have found sources (`auto`), always, or never. */
  readonly citations: "auto" | "on" | "off";
  /** How calls of tools that need approval are handled. */
  readonly approvals: "ask" | "allow" | "deny";
  /** How long a request for approval, or a tool's question, can be answered. After that the call is denied. */
  readonly approvalExpiresMs: number | "unlimited";
  /** When a side effect needs approval: after untrusted and private data, after untrusted data alone, or never. */
  readonly gate: "default" | "strict" | "off";
  /**
   * What happens to a new message while its session has an unfinished run, also one that waits for the user. `queue`: the
   * message becomes a run after the others have ended. `steer`: the unfinished run receives it before its next decision.
   * `interrupt`: the unfinished run is cancelled, and the message becomes the next run. `reject`: `session_busy`.
   */
  readonly onBusy: "queue" | "steer" | "interrupt" | "reject";
  readonly handoff: HandoffPolicy;
};

/** How agents hand off to each other. */
export type HandoffPolicy = {
  /** `return`: the target's answer is returned to the calling agent. `transfer`: the target stays in charge. */
  readonly mode: "return" | "transfer";
  /** Maximum number of agents in a chain that wait for an answer. */
  readonly maxDepth: number;
  /** Effect of a denied handoff: report it to the model and continue, or fail the run. */
  readonly onDenied: "tell-model" | "fail";
};

/** A partial policy, as set by an agent, a run or an operator. Unset fields come from the layer below. */
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
  onOutputLimit: "continue",
  budget: {
    ...{ tokens: "unlimited", cost: "unlimited", seconds: "unlimited", toolCalls: "unlimited" },
    // Generous: only an agent that goes on calling agents reaches them.
    ...{ modelCalls: 2_000, agents: 200 },
  },
  toolExecution: "parallel",
  maxConcurrency: 8,
  onToolError: "continue",
  retry: { maxAttempts: 2, baseMs: 1000, factor: "linear", maxMs: 60_000, jitter: 0 },
  modelRetry: { attempts: 3, minMs: 500, maxMs: 300_000, patienceMs: "auto" },
  toolTimeoutMs: 60_000,
  maxToolResultSize: { data: 4000, text: 16_000 },
  includeToolData: true,
  textWithCalls: "keep",
  deferToolsAbove: 64,
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
  approvalExpiresMs: 86_400_000,
  gate: "default",
  onBusy: "queue",
  handoff: { mode: "return", maxDepth: 4, onDenied: "tell-model" },
};

/** Merges layers field by field: the first layer that sets a field wins, then the default. Throws `invalid_definition`. */
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

/** Latest time a `Date` can represent. */
const maxTime = 8.64e15;

/** Returns when a request for approval expires that is made now. Runs of earlier versions have no such limit. */
export function computeExpiry(
  { approvalExpiresMs: ms }: Partial<Pick<Policy, "approvalExpiresMs">>,
  now: number,
): { readonly expiresAt?: number } {
  return typeof ms === "number" ? { expiresAt: Math.min(now + ms, maxTime) } : {};
}

/** The settings that grant rights, from the loosest choice to the strictest. */
const strictness = { gate: ["off", "default", "strict"], approvals: ["allow", "ask", "deny"] } as const;

export type Rights = Pick<Policy, "gate" | "approvals">;

/** Returns the settings in which `other` is stricter. Nothing that is added to a policy grants more than it did. */
export function findStricter(policy: Rights, other: Partial<Rights> = {}): Partial<Rights> {
  const isStricter = (order: readonly string[], own: string | undefined, current: string) =>
    own !== undefined && order.indexOf(own) > order.indexOf(current);
  const { gate, approvals } = other;
  return {
    ...(gate && isStricter(strictness.gate, gate, policy.gate) && { gate }),
    ...(approvals && isStricter(strictness.approvals, approvals, policy.approvals) && { approvals }),
  };
}

/** Returns `below` with the fields of `above` that are not undefined. */
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
  onOutputLimit: ["continue", "stop"],
  toolExecution: ["parallel", "sequential"],
  onToolError: ["continue", "stop"],
  onAllToolsFailed: ["continue", "answer-from-knowledge", "fallback-tool"],
  memory: ["session", "run", "client"],
  requireToolFirst: [true, false, "auto"],
  summaries: [true, false],
  includeToolData: [true, false],
  textWithCalls: ["keep", "drop"],
  thinking: ["auto", "on", "off"],
  citations: ["auto", "on", "off"],
  approvals: ["ask", "allow", "deny"],
  gate: ["default", "strict", "off"],
  onBusy: ["queue", "steer", "interrupt", "reject"],
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
  "modelCalls",
  "agents",
  "maxToolResultSize",
  "historyLimit",
  "contextBudget",
  "approvalExpiresMs",
  "deferToolsAbove",
];
const integerFields: readonly string[] = [
  "maxTurns",
  "wrapUpAt",
  "maxConcurrency",
  "maxAttempts",
  "attempts",
  "nudgeAt",
  "stopAt",
  "toolCalls",
  "modelCalls",
  "agents",
  "historyLimit",
  "contextBudget",
  "maxDepth",
  "deferToolsAbove",
];
const minimums: { readonly [field: string]: number } = {
  maxTurns: 1,
  maxConcurrency: 1,
  maxAttempts: 1,
  attempts: 1,
  toolTimeoutMs: 1,
  approvalExpiresMs: 1,
  nudgeAt: 1,
  stopAt: 1,
  historyLimit: 1,
  contextBudget: 1,
};

/** Throws `invalid_definition` for unknown fields and invalid values: a misspelled field would silently do nothing. */
export function checkPolicy(
  layer: PolicyOverrides,
  formatField: FormatField = (field) => `policy.${field}`,
): void {
  if (!isRecord(layer))
    throw new AgentError("invalid_definition", `A policy cannot be ${formatValue(layer)}: use an object.`);
  checkOverrides(layer, defaultPolicy, formatField);
}

/** Formats a field name for error messages. */
type FormatField = (field: string) => string;

function checkOverrides(layer: object, defaults: object, formatField: FormatField): void {
  for (const [field, value] of Object.entries(layer)) {
    if (value === undefined) continue;
    const where = formatField(field);
    if (!Object.hasOwn(defaults, field)) {
      throw new AgentError(
        "invalid_definition",
        `Unknown field ${where}.${suggestName(field, Object.keys(defaults))}`,
      );
    }
    const example: unknown = Reflect.get(defaults, field);
    if (isRecord(example) && isRecord(value))
      checkOverrides(value, example, (nestedField) => formatField(`${field}.${nestedField}`));
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
    return Array.isArray(value) && value.every((action) => limitActions.includes(action));
  if (Object.hasOwn(choices, field)) return choices[field]?.includes(value) ?? false;
  if (value === "unlimited") return unlimitedFields.includes(field);
  if (value === "auto") return field === "patienceMs";
  if (typeof value !== "number" || !Number.isFinite(value)) return false;
  if (integerFields.includes(field) && !Number.isInteger(value)) return false;
  return value >= (minimums[field] ?? 0) && !(field === "jitter" && value > 1);
}

function formatExpected(field: string): string {
  if (field === "onLimit") return `use a list of ${limitActions.join(", ")}`;
  if (Object.hasOwn(choices, field)) return `use ${choices[field]?.join(", ")}`;
  const kind = integerFields.includes(field) ? "a whole number" : "a number";
  const maximum = field === "jitter" ? " to 1" : "";
  return `use ${kind} from ${minimums[field] ?? 0}${maximum}${formatAlternative(field)}`;
}

function formatAlternative(field: string): string {
  if (field === "patienceMs") return ' or "auto"';
  return unlimitedFields.includes(field) ? ' or "unlimited"' : "";
}
