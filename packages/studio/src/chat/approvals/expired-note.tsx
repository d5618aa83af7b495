import { TimerOff } from "lucide-react";
import type { ReactNode } from "react";
import { formatExpiry } from "./use-expired.ts";

/** Shown instead of the buttons of a request that has expired. */
export function ExpiredNote({ expiresAt }: { readonly expiresAt: number }): ReactNode {
  return (
    <p className="flex items-start gap-2 text-sm text-quiet">
      <TimerOff size={16} aria-hidden="true" className="mt-0.5 shrink-0" />
      This request expired on {formatExpiry(expiresAt)}. The call will not be made. Send a message to
      continue.
    </p>
  );
}
