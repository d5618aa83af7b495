import { type Quotas, type QuotaWindow, quotaWindows } from "../access/quotas.ts";
import { computeWindowEnd } from "../access/usage-record.ts";
import type { Deployment } from "../deployment.ts";

/** What a user may use, and has used in the current windows. */
export type UsageView = {
  readonly user: string;
  readonly quotas: Quotas;
  readonly windows: {
    readonly [Window in QuotaWindow]: {
      readonly runs: number;
      readonly tokens: number;
      readonly cost: number;
      readonly resetsAt: string;
    };
  };
  readonly reserved: { readonly tokens: number; readonly cost: number };
  readonly activeRuns: number;
  readonly storage: { readonly sessions: number; readonly bytes: number };
};

type UsageContext = Pick<Deployment, "quotaAdmission" | "quotas">;

/** Loads the usage of a user, with the quotas of the caller's key or else of the user. */
export async function loadUsageView(
  { quotaAdmission, quotas: source }: UsageContext,
  user: string,
  ofCaller?: Quotas,
): Promise<UsageView> {
  const [usage, quotas] = await Promise.all([
    quotaAdmission.loadUsage(user),
    ofCaller ?? source.resolve(user),
  ]);
  const now = Date.now();
  const windows = quotaWindows.map((window) => {
    const { runs, tokens, cost } = usage.windows[window];
    return [window, { runs, tokens, cost, resetsAt: new Date(computeWindowEnd(window, now)).toISOString() }];
  });
  return { user, quotas, ...usage, windows: Object.fromEntries(windows) };
}
