import type { WatchState } from "capstan/client";
import { type ReactNode, useEffect, useState } from "react";

type ConnectionBarProps = { readonly state: WatchState; readonly onReopen: () => void };

/** Says when the server cannot be heard, and that it is tried again. */
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
  const [leftMs, setLeftMs] = useState(state.retryInMs);
  useEffect(() => {
    const until = performance.now() + state.retryInMs;
    setLeftMs(state.retryInMs);
    const timer = setInterval(() => setLeftMs(until - performance.now()), 250);
    return () => clearInterval(timer);
  }, [state]);
  const seconds = Math.ceil(leftMs / 1000);
  return <span aria-hidden="true">{seconds > 0 ? `Trying again in ${seconds} s` : "Trying again…"}</span>;
}
