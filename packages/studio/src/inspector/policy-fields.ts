import { defaultPolicy, type Policy, type PolicyOverrides } from "capstan";

/** One number or choice of a policy, as people edit it. */
export type PolicyField = {
  /** Such as `budget.tokens`. */
  readonly path: string;
  readonly label: string;
} & (
  | { readonly type: "number"; readonly mayBeUnlimited?: true }
  | { readonly type: "choice"; readonly choices: readonly string[] }
  | { readonly type: "flag" }
);

export type PolicyGroup = { readonly title: string; readonly fields: readonly PolicyField[] };

const choice = (path: string, label: string, choices: readonly string[]): PolicyField => {
  return { path, label, type: "choice", choices };
};
const number = (path: string, label: string): PolicyField => ({ path, label, type: "number" });
const limit = (path: string, label: string): PolicyField => {
  return { path, label, type: "number", mayBeUnlimited: true };
};
const flag = (path: string, label: string): PolicyField => ({ path, label, type: "flag" });

/** What has a field of its own; the rest is edited as JSON. */
export const policyGroups: readonly PolicyGroup[] = [
  {
    title: "Limits",
    fields: [
      limit("maxTurns", "Most turns"),
      number("wrapUpAt", "Wrap up so many turns before"),
      choice("finalTurn", "Last turn", ["no-tools", "keep-tools"]),
      limit("budget.tokens", "Tokens"),
      limit("budget.cost", "Cost in dollars"),
      limit("budget.seconds", "Seconds at work"),
      limit("budget.toolCalls", "Tool calls"),
    ],
  },
  {
    title: "Tools",
    fields: [
      choice("toolExecution", "Calls of a turn", ["parallel", "sequential"]),
      number("maxConcurrency", "At the same time"),
      choice("onToolError", "When a tool fails", ["continue", "stop"]),
      number("toolTimeoutMs", "Longest call in ms"),
      flag("requireToolFirst", "Call a tool first"),
      choice("approvals", "Approvals", ["ask", "allow", "deny"]),
      choice("gate", "Safety gate", ["default", "strict", "off"]),
    ],
  },
  {
    title: "Retry",
    fields: [
      number("retry.maxAttempts", "Attempts"),
      number("retry.baseMs", "First wait in ms"),
      choice("retry.factor", "Waits grow", ["linear", "exponential"]),
      number("retry.maxMs", "Longest wait in ms"),
    ],
  },
  {
    title: "Model and memory",
    fields: [
      choice("thinking", "Thinking", ["auto", "on", "off"]),
      choice("citations", "Citations", ["auto", "on", "off"]),
      flag("summaries", "Working notes"),
      limit("contextBudget", "Context in tokens"),
      limit("historyLimit", "Entries of history"),
    ],
  },
];

const paths = policyGroups.flatMap(({ fields }) => fields.map(({ path }) => path));

/** The value at a path. */
export function valueAt(policy: object, path: string): unknown {
  return path.split(".").reduce<unknown>((value, name) => Reflect.get(Object(value), name), policy);
}

/** Whether the policy says something else there than the default. */
export function differs(policy: Policy, path: string): boolean {
  return JSON.stringify(valueAt(policy, path)) !== JSON.stringify(valueAt(defaultPolicy, path));
}

/** The part of a policy that has no field of its own. */
export function restOf(policy: Policy): object {
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

/** What is in the fields, as text; `rest` is JSON. */
export type PolicyDraft = { readonly fields: Readonly<Record<string, string>>; readonly rest: string };

/** The fields filled with a policy. */
export function draftOf(policy: Policy): PolicyDraft {
  const fields = Object.fromEntries(paths.map((path) => [path, String(valueAt(policy, path))]));
  return { fields, rest: JSON.stringify(restOf(policy), undefined, 2) };
}

/** What the draft says otherwise than the policy; a problem says which field is wrong. */
export function changesOf(
  policy: Policy,
  draft: PolicyDraft,
): { readonly changes: PolicyOverrides } | { readonly problem: string } {
  const before = draftOf(policy);
  const changes: Record<string, unknown> = {};
  for (const field of policyGroups.flatMap(({ fields }) => fields)) {
    const text = (draft.fields[field.path] ?? "").trim();
    if (text === before.fields[field.path]) continue;
    const value = parsed(field, text);
    if (value === undefined) return { problem: `“${field.label}” must be ${expected(field)}.` };
    put(changes, field.path, value);
  }
  if (draft.rest.trim() !== before.rest) {
    const rest = parsedRest(draft.rest);
    if (!rest) return { problem: "The rest is not a JSON object." };
    const old = restOf(policy);
    for (const [name, value] of Object.entries(rest))
      if (JSON.stringify(value) !== JSON.stringify(Reflect.get(old, name)))
        changes[name] = isObject(value) ? { ...Object(changes[name]), ...value } : value;
  }
  return { changes: changes as PolicyOverrides };
}

function parsed(field: PolicyField, text: string): unknown {
  if (field.type === "flag") return text === "true";
  if (field.type === "choice") return field.choices.includes(text) ? text : undefined;
  if (field.mayBeUnlimited && (text === "unlimited" || text === "")) return "unlimited";
  const value = Number(text);
  return text !== "" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function expected(field: PolicyField): string {
  if (field.type !== "number") return "one of its choices";
  return field.mayBeUnlimited ? "a number from 0, or unlimited" : "a number from 0";
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function parsedRest(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function put(changes: Record<string, unknown>, path: string, value: unknown): void {
  const [name = "", inner] = path.split(".");
  changes[name] = inner === undefined ? value : { ...Object(changes[name]), [inner]: value };
}
