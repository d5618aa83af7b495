import { useEffect, useState } from "react";

/** `setTimeout` takes 31 bits. */
const maxTimerMs = 2_147_483_647;

/** Whether a request for approval has expired; updates when it does. */
export function useExpired(expiresAt: number | undefined): boolean {
  const [now, setNow] = useState(Date.now);
  const isExpired = expiresAt !== undefined && expiresAt <= now;
  useEffect(() => {
    if (expiresAt === undefined || isExpired) return;
    const ms = Math.min(Math.max(0, expiresAt - now), maxTimerMs);
    const timer = setTimeout(() => setNow(Date.now()), ms);
    return () => clearTimeout(timer);
  }, [expiresAt, isExpired, now]);
  return isExpired;
}

/** Formats the time at which a request expires, in the user's time zone. */
export function formatExpiry(expiresAt: number): string {
  const parts = {
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    hour12: false,
  } as const;
  return new Date(expiresAt).toLocaleString("en", parts);
}
