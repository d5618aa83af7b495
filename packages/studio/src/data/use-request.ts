import { useCallback, useEffect, useState } from "react";

/** What a question to the server has come to. */
export type Answer<Value> = {
  readonly value: Value | undefined;
  readonly error: string | undefined;
  readonly again: () => void;
};

/** Asks when the key is another one. The old answer is shown until the new one is there. */
export function useAnswer<Value>(key: string | undefined, ask: () => Promise<Value>): Answer<Value> {
  const [answer, setAnswer] = useState<{ key: string; value?: Value; error?: string }>();
  const [tries, setTries] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says what is asked
  useEffect(() => {
    if (key === undefined) return;
    let isCurrent = true;
    const tell = (told: { value: Value } | { error: string }) => isCurrent && setAnswer({ key, ...told });
    ask().then(
      (value) => tell({ value }),
      (thrown: unknown) => tell({ error: thrown instanceof Error ? thrown.message : String(thrown) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [key, tries]);
  const again = useCallback(() => setTries((count) => count + 1), []);
  return { value: answer?.value, error: answer?.key === key ? answer?.error : undefined, again };
}
