import { create, type StoreApi, type UseBoundStore } from "zustand";

/** Focus shared by the inspector and the conversation. */
export type InspectorFocus = {
  /** The `seq` of the focused fact. */
  readonly factSeq: number | undefined;
  /** Where the conversation should scroll to. It clears this when done. */
  readonly inChat: { readonly factSeq: number } | undefined;
  readonly tab: "timeline" | "reasoning" | "messages" | "prompt" | "events" | "policy";
  readonly set: (change: Partial<Omit<InspectorFocus, "set">>) => void;
};

export const useInspectorFocus: UseBoundStore<StoreApi<InspectorFocus>> = create<InspectorFocus>()((set) => ({
  factSeq: undefined,
  inChat: undefined,
  tab: "timeline",
  set,
}));
