import { AgentError, isRecord, suggestName } from "capstan";

/** Windows start at full minutes, hours, days and months in UTC. */
export const quotaWindows = ["minute", "hour", "day", "month"] as const;
export type QuotaWindow = (typeof quotaWindows)[number];

export type WindowLimits = { readonly [Window in QuotaWindow]?: number };

/** How much one user may use. A missing field limits nothing. */
export type Quotas = {
  /** Runs that are started. */
  readonly runs?: WindowLimits | "unlimited";
  /** Input and output tokens. */
  readonly tokens?: WindowLimits | "unlimited";
  /** US dollars. */
  readonly cost?: WindowLimits | "unlimited";
  /** Bytes of all sessions. */
  readonly storage?: number | "unlimited";
  readonly sessions?: number | "unlimited";
  /** Active runs in all processes. Without it: 50 in each process, for users with a key. */
  readonly concurrentRuns?: number | "unlimited";
  /** Open event streams in this process. Default: 100, for users with a key. */
  readonly streams?: number | "unlimited";
};

export type QuotaName = keyof Quotas;

/** Quotas in the configuration. A user's replace the default, field by field. */
export type QuotaSettings = {
  readonly default?: Quotas;
  readonly users?: { readonly [user: string]: Quotas };
};

/** Quotas per window, and the others. */
export const windowedQuotas = ["runs", "tokens", "cost"] as const;
export const plainQuotas = ["storage", "sessions", "concurrentRuns", "streams"] as const;
const quotaNames: readonly string[] = [...windowedQuotas, ...plainQuotas];

/** Throws `invalid_input` for unknown quotas and windows, and for values that are not numbers of at least 0. */
export function checkQuotas(quotas: unknown): Quotas {
  if (!isRecord(quotas))
    throw createInvalidError("Quotas must be an object, such as { runs: { day: 100 } }.");
  for (const [name, value] of Object.entries(quotas)) {
    if (value === "unlimited" || value === undefined) continue;
    if ((plainQuotas as readonly string[]).includes(name)) checkNumber(name, value);
    else if (!(windowedQuotas as readonly string[]).includes(name))
      throw createInvalidError(
        `Unknown quota "${name}".${suggestName(name, quotaNames) || ` Known quotas: ${quotaNames.join(", ")}.`}`,
      );
    else checkWindows(name, value);
  }
  return quotas;
}

function checkWindows(name: string, value: unknown): void {
  if (!isRecord(value) || Object.keys(value).length === 0)
    throw createInvalidError(`The quota "${name}" needs a window, such as { day: 100 }, or "unlimited".`);
  for (const [window, limit] of Object.entries(value)) {
    if (!(quotaWindows as readonly string[]).includes(window))
      throw createInvalidError(
        `Unknown window "${window}" of the quota "${name}". Use ${quotaWindows.join(", ")}.`,
      );
    checkNumber(`${name} per ${window}`, limit);
  }
}

function checkNumber(name: string, value: unknown): void {
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return;
  throw createInvalidError(`Invalid quota "${name}": must be a number of at least 0, or "unlimited".`);
}

function createInvalidError(message: string): AgentError {
  return new AgentError("invalid_input", message);
}

/** Returns the limit of a quota that has no window. */
export function getLimit(
  quotas: Quotas,
  name: (typeof plainQuotas)[number],
  fallback: number = Infinity,
): number {
  const value = quotas[name] ?? fallback;
  return value === "unlimited" ? Infinity : value;
}
