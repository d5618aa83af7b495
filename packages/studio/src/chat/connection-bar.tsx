import type { WatchState } from "capstan/client";
import { type ReactNode, useEffect, useState } from "react";

type ConnectionBarProps = { readonly state: WatchState; readonly onReopen: () => void };

/** Shows a lost connection and the time until the next attempt. */
export function ConnectionBar({ state, onReopen }: ConnectionBarProps): ReactNode {
  if (state.type === "ended" && state.error)
    return (
      <div role="status" className="border-b bg-bad-soft px-4 py-1.5 text-center text-sm text-bad">
        {state.error.message}{" "}
        <button type="button" onClick={onReopen} className="font-medium underline">
          Try again
        </button>
      </div>
    );
  if (state.type !== "lost") return null;
  return (
    <div role="status" className="border-b bg-warn-soft px-4 py-1.5 text-center text-sm text-warn">
      Connection lost. <Countdown state={state} />
    </div>
  );
}

function Countdown({ state }: { readonly state: Extract<WatchState, { readonly type: "lost" }> }): ReactNode {
  const [remainingMs, setRemainingMs] = useState(state.retryInMs);
  useEffect(() => {
    const endsAt = performance.now() + state.retryInMs;
    setRemainingMs(state.retryInMs);
    const timer = setInterval(() => setRemainingMs(endsAt - performance.now()), 250);
    return () => clearInterval(timer);
  }, [state]);
  const seconds = Math.ceil(remainingMs / 1000);
  return <span aria-hidden="true">{seconds > 0 ? `Reconnecting in ${seconds} s` : "Reconnecting…"}</span>;
}
