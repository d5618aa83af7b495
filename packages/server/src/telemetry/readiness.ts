import type { Store } from "capstan";
import type { Deployment } from "../deployment.ts";

/** What keeps a server from taking requests. Callers see only the names. */
export type FailedCheck = "draining" | "store" | "load";

const storeTimeoutMs = 1000;
const cacheMs = 1000;

/** The last check of each store. Anyone may poll readiness often, and this must cost the store nothing. */
const storeChecks = new WeakMap<Store, { readonly at: number; readonly isReachable: Promise<boolean> }>();

/** Lists the checks that fail, none when the server is ready. */
export async function findFailedChecks(
  {
    store,
    admission,
    shutdownSignal,
    drain,
  }: Pick<Deployment, "store" | "admission" | "shutdownSignal" | "drain">,
  now: () => number = () => performance.now(),
): Promise<readonly FailedCheck[]> {
  const failed: FailedCheck[] = [];
  if (shutdownSignal.aborted || drain.isOn) failed.push("draining");
  if (!(await checkStore(store, now()))) failed.push("store");
  if (admission.isOverloaded()) failed.push("load");
  return failed;
}

function checkStore(store: Store, now: number): Promise<boolean> {
  const last = storeChecks.get(store);
  if (last && now - last.at < cacheMs) return last.isReachable;
  const isReachable = reachStore(store);
  storeChecks.set(store, { at: now, isReachable });
  return isReachable;
}

async function reachStore(store: Store): Promise<boolean> {
  const timeout = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => timeout.resolve(false), storeTimeoutMs);
  const read = store.getRecord("readiness", "any").then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([read, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
