import { type ComponentType, type ReactNode, useEffect, useState } from "react";
import { Loading } from "./state.tsx";

/** A component whose code is loaded when it is first shown. */
export type LazyComponent<Props> = ((props: Props) => ReactNode) & {
  /** Starts to load the code. An error is reported when the component is shown. */
  readonly preload: () => void;
};

/**
 * Replaces `lazy` of React, which shows a fallback for at least 300 ms, even if the code is there already. The nearest
 * error boundary handles code that cannot be loaded.
 */
export function lazy<Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
  fallback: ReactNode = <Loading />,
): LazyComponent<Props> {
  let Loaded: ComponentType<Props> | undefined;
  const start = async () => {
    Loaded ??= (await load()).default;
  };
  function Lazy(props: Props): ReactNode {
    const [result, setResult] = useState<{ readonly error?: unknown }>();
    useEffect(() => {
      start().then(
        () => setResult({}),
        (error: unknown) => setResult({ error }),
      );
    }, []);
    if (Loaded) return <Loaded {...props} />;
    if (result) throw result.error;
    return fallback;
  }
  return Object.assign(Lazy, { preload: () => void start().catch(() => undefined) });
}
