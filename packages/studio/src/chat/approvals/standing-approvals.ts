import { create, type StoreApi, type UseBoundStore } from "zustand";

type StandingApprovals = {
  /** Tools allowed without asking, by session. Lost when the page is closed. */
  readonly tools: Readonly<Record<string, readonly string[]>>;
  readonly allow: (sessionId: string, tool: string) => void;
  readonly revoke: (sessionId: string, tool: string) => void;
};

/** Tools the user has allowed while this page is open. */
export const useStandingApprovals: UseBoundStore<StoreApi<StandingApprovals>> = create<StandingApprovals>()(
  (set) => ({
    tools: {},
    allow: (sessionId, tool) =>
      set(({ tools }) => ({ tools: { ...tools, [sessionId]: [...(tools[sessionId] ?? []), tool] } })),
    revoke: (sessionId, tool) =>
      set(({ tools }) => ({
        tools: {
          ...tools,
          [sessionId]: (tools[sessionId] ?? []).filter((allowedTool) => allowedTool !== tool),
        },
      })),
  }),
);

const noTools: readonly string[] = [];

/** Returns the tools that are allowed in a session. */
export function useAllowedTools(sessionId: string): readonly string[] {
  return useStandingApprovals(({ tools }) => tools[sessionId]) ?? noTools;
}
