import { useLocation, useSearchParams } from "wouter";
import { create, type StoreApi, type UseBoundStore } from "zustand";
import { useAbout } from "./about.ts";
import { getNewChatPath } from "./agents.ts";

type CurrentAgent = {
  /** The agent of the session or the new chat that was opened last. */
  readonly agent: string | undefined;
  readonly set: (agent: string) => void;
};

export const useCurrentAgent: UseBoundStore<StoreApi<CurrentAgent>> = create<CurrentAgent>()((set) => ({
  agent: undefined,
  set: (agent) => set({ agent }),
}));

/** Returns the path of a new chat with the current agent, if there still is one. The start page stays as it is. */
export function useNewChatPath(): string {
  const current = useCurrentAgent((state) => state.agent);
  const agent = useAbout(({ about }) => about?.agents.find(({ name }) => name === current)?.name);
  const [path] = useLocation();
  const [search] = useSearchParams();
  const isOpen = path === "/" && !search.has("agent");
  return isOpen || agent === undefined ? "/" : getNewChatPath(agent);
}
