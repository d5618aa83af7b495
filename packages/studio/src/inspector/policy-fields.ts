import { defaultPolicy, type Policy, type PolicyOverrides } from "capstan";

/** An editable field of a policy. */
export type PolicyField = {
  /** For example `budget.tokens`. */
  readonly path: string;
  readonly label: string;
} & (
  | { readonly type: "number"; readonly allowsUnlimited?: true }
  /** Stored in milliseconds, shown with its unit. */
  | { readonly type: "duration"; readonly allowsUnlimited?: true }
  | { readonly type: "choice"; readonly choices: readonly string[] }
  | { readonly type: "flag" }
);

export type PolicyGroup = { readonly title: string; readonly fields: readonly PolicyField[] };

const createChoice = (path: string, label: string, choices: readonly string[]): PolicyField => {
  return { path, label, type: "choice", choices };
};
const createNumber = (path: string, label: string): PolicyField => ({ path, label, type: "number" });
const createLimit = (path: string, label: string): PolicyField => {
  return { path, label, type: "number", allowsUnlimited: true };
};
const createDuration = (path: string, label: string): PolicyField => ({ path, label, type: "duration" });
const createFlag = (path: string, label: string): PolicyField => ({ path, label, type: "flag" });

/** Fields of the form. Everything else is edited as JSON. */
export const policyGroups: readonly PolicyGroup[] = [
  {
    title: "Limits",
    fields: [
      createLimit("maxTurns", "Max turns"),
      createNumber("wrapUpAt", "Wrap-up turns"),
      createChoice("finalTurn", "Final turn", ["no-tools", "keep-tools"]),
      createLimit("budget.tokens", "Token limit"),
      createLimit("budget.cost", "Cost limit ($)"),
      createLimit("budget.seconds", "Time limit (s)"),
      createLimit("budget.toolCalls", "Tool call limit"),
      createLimit("budget.modelCalls", "Model call limit"),
      createLimit("budget.agents", "Agent limit"),
    ],
  },
  {
    title: "Tools",
    fields: [
      createChoice("toolExecution", "Tool execution", ["parallel", "sequential"]),
      createNumber("maxConcurrency", "Max concurrency"),
      createChoice("onToolError", "On tool error", ["continue", "stop"]),
      createDuration("toolTimeoutMs", "Tool timeout"),
      createLimit("deferToolsAbove", "Defer tools above"),
      createChoice("requireToolFirst", "Require a tool first", ["false", "true", "auto"]),
      createChoice("approvals", "Approvals", ["ask", "allow", "deny"]),
      { path: "approvalExpiresMs", label: "Approvals expire after", type: "duration", allowsUnlimited: true },
      createChoice("gate", "Safety gate", ["default", "strict", "off"]),
    ],
  },
  {
    title: "Retry",
    fields: [
      createNumber("retry.maxAttempts", "Max attempts"),
      createDuration("retry.baseMs", "Base delay"),
      createChoice("retry.factor", "Backoff", ["linear", "exponential"]),
      createDuration("retry.maxMs", "Max delay"),
    ],
  },
  {
    title: "Model and memory",
    fields: [
      createChoice("thinking", "Thinking", ["auto", "on", "off"]),
      createChoice("citations", "Citations", ["auto", "on", "off"]),
      createFlag("summaries", "Turn summaries"),
      createLimit("contextBudget", "Context budget (tokens)"),
      createLimit("historyLimit", "History limit (entries)"),
    ],
  },
];

const allFields = policyGroups.flatMap(({ fields }) => fields);
const paths = allFields.map(({ path }) => path);

const unitMs = { h: 3_600_000, min: 60_000, s: 1000, ms: 1 } as const;

/** Formats a value as its field shows it: durations exactly, in the largest unit that fits. */
export function formatFieldValue({ type }: PolicyField, value: unknown): string {
  if (type !== "duration" || typeof value !== "number" || value === 0) return String(value);
  const [unit, ms] = Object.entries(unitMs).find(([, size]) => value % size === 0) ?? ["ms", 1];
  return `${value / ms} ${unit}`;
}

export function getValueAt(policy: object, path: string): unknown {
  return path.split(".").reduce<unknown>((value, name) => Reflect.get(Object(value), name), policy);
}

/** Whether the policy differs from the default at a path. */
export function differsFromDefault(policy: Policy, path: string): boolean {
  return JSON.stringify(getValueAt(policy, path)) !== JSON.stringify(getValueAt(defaultPolicy, path));
}

/** Returns the part of a policy without form fields. */
export function getRemainingPolicy(policy: Policy): object {
  return Object.fromEntries(
    Object.entries(policy).flatMap(([name, value]): [string, unknown][] => {
      if (paths.includes(name)) return [];
      const inner = Object.entries(Object(value)).filter(([key]) => !paths.includes(`${name}.${key}`));
      const isSplit = paths.some((path) => path.startsWith(`${name}.`));
      if (!isSplit) return [[name, value]];
      return inner.length > 0 ? [[name, Object.fromEntries(inner)]] : [];
    }),
  );
}

/** Field contents as text; `rest` is JSON. */
export type PolicyDraft = { readonly fields: Readonly<Record<string, string>>; readonly rest: string };

export function toPolicyDraft(policy: Policy): PolicyDraft {
  const fields = Object.fromEntries(
    allFields.map((field) => [field.path, formatFieldValue(field, getValueAt(policy, field.path))]),
  );
  return { fields, rest: JSON.stringify(getRemainingPolicy(policy), undefined, 2) };
}

/** Returns the changes from the policy to the draft, or a problem that names the field. */
export function computeChanges(
  policy: Policy,
  draft: PolicyDraft,
): { readonly changes: PolicyOverrides } | { readonly problem: string } {
  const before = toPolicyDraft(policy);
  const changes: Record<string, unknown> = {};
  for (const field of allFields) {
    const text = (draft.fields[field.path] ?? "").trim();
    if (text === before.fields[field.path]) continue;
    const value = parseFieldText(field, text);
    if (value === undefined) return { problem: `“${field.label}” must be ${describeExpected(field)}.` };
    setPath(changes, field.path, value);
  }
  if (draft.rest.trim() !== before.rest) {
    const rest = parseJsonObject(draft.rest);
    if (!rest) return { problem: "“Other settings” must be a JSON object." };
    const oldRest = getRemainingPolicy(policy);
    for (const [name, value] of Object.entries(rest))
      if (JSON.stringify(value) !== JSON.stringify(Reflect.get(oldRest, name)))
        changes[name] = isPlainObject(value) ? { ...Object(changes[name]), ...value } : value;
  }
  return { changes: changes as PolicyOverrides };
}

function parseFieldText(field: PolicyField, text: string): unknown {
  if (field.type === "flag") return text === "true";
  if (field.type === "choice") {
    if (!field.choices.includes(text)) return undefined;
    return text === "true" || text === "false" ? text === "true" : text;
  }
  if (field.allowsUnlimited && (text === "unlimited" || text === "")) return "unlimited";
  if (field.type === "duration") return parseDuration(text);
  const value = Number(text);
  return text !== "" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** Parses a number with a unit; only 0 needs none. */
function parseDuration(text: string): number | undefined {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)\s*(h|min|s|ms)$/.exec(text) ?? [];
  if (unit === undefined) return text === "0" ? 0 : undefined;
  return Math.round(Number(digits) * unitMs[unit as keyof typeof unitMs]);
}

function describeExpected(field: PolicyField): string {
  if (field.type !== "number" && field.type !== "duration") return "one of the choices";
  const expected = field.type === "duration" ? "a time such as 500 ms, 30 s, 10 min or 24 h" : "0 or more";
  return field.allowsUnlimited ? `${expected}, or unlimited` : expected;
}

const isPlainObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function parseJsonObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function setPath(changes: Record<string, unknown>, path: string, value: unknown): void {
  const [name = "", inner] = path.split(".");
  changes[name] = inner === undefined ? value : { ...Object(changes[name]), [inner]: value };
}
