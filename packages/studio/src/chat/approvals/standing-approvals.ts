import { create, type StoreApi, type UseBoundStore } from "zustand";

type StandingApprovals = {
  /** By session: the tools that are allowed without asking. Kept by this page alone, and gone with it. */
  readonly tools: Readonly<Record<string, readonly string[]>>;
  readonly allow: (sessionId: string, tool: string) => void;
  readonly revoke: (sessionId: string, tool: string) => void;
};

/** What the person has allowed for as long as the page is open. */
export const useStandingApprovals: UseBoundStore<StoreApi<StandingApprovals>> = create<StandingApprovals>()(
  (set) => ({
    tools: {},
    allow: (sessionId, tool) =>
      set(({ tools }) => ({ tools: { ...tools, [sessionId]: [...(tools[sessionId] ?? []), tool] } })),
    revoke: (sessionId, tool) =>
      set(({ tools }) => ({
        tools: { ...tools, [sessionId]: (tools[sessionId] ?? []).filter((one) => one !== tool) },
      })),
  }),
);

const none: readonly string[] = [];

/** The tools that are allowed in a session. */
export function useAllowedTools(sessionId: string): readonly string[] {
  return useStandingApprovals(({ tools }) => tools[sessionId]) ?? none;
}
