import type { PendingCall } from "capstan";

/** Whether the request for approval has expired: the call can only be denied. */
export function hasExpired({ expiresAt }: PendingCall): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now();
}

/** The reason for denying such a call; the model reads it. */
export const expiredReason =
  "nobody decided before the request expired. Call the tool again if it is still needed.";
