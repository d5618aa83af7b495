import { create, type StoreApi, type UseBoundStore } from "zustand";

/** What the inspector and the conversation look at together. */
export type InspectorFocus = {
  /** The `seq` of a fact. */
  readonly factSeq: number | undefined;
  /** Where the conversation is to go; it takes this away when it has gone there. */
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
