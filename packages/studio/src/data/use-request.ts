import { useCallback, useEffect, useState } from "react";

/** State of a request. */
export type RequestState<Value> = {
  readonly value: Value | undefined;
  readonly error: string | undefined;
  readonly retry: () => void;
};

/** Sends a request when the key changes. The previous value stays until the new one arrives. */
export function useRequest<Value>(key: string | undefined, send: () => Promise<Value>): RequestState<Value> {
  const [result, setResult] = useState<{ key: string; value?: Value; error?: string }>();
  const [attempts, setAttempts] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key identifies the request
  useEffect(() => {
    if (key === undefined) return;
    let isCurrent = true;
    const update = (outcome: { value: Value } | { error: string }) =>
      isCurrent && setResult({ key, ...outcome });
    send().then(
      (value) => update({ value }),
      (error: unknown) => update({ error: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [key, attempts]);
  const retry = useCallback(() => setAttempts((count) => count + 1), []);
  return { value: result?.value, error: result?.key === key ? result?.error : undefined, retry };
}
