import { lazy, type ReactNode, Suspense } from "react";
import { Loading } from "../look/state.tsx";

const InspectorPanel = lazy(async () => ({
  default: (await import("./inspector-panel.tsx")).InspectorPanel,
}));

/** What is behind a conversation: loaded when it is first opened. */
export function Inspector({ sessionId }: { readonly sessionId: string }): ReactNode {
  return (
    <Suspense fallback={<Loading />}>
      <InspectorPanel key={sessionId} sessionId={sessionId} />
    </Suspense>
  );
}
