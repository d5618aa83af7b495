import type { PendingCall } from "capstan";

/** Whether the request for approval has expired: the call can only be denied, with `expiredReason`. */
export function hasExpired({ expiresAt }: PendingCall): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now();
}
