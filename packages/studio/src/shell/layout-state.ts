import { create, type StoreApi, type UseBoundStore } from "zustand";

/** What is open around the conversation. */
export type LayoutState = {
  /** On a phone the list of sessions lies over the rest. */
  readonly isListOpen: boolean;
  readonly isInspectorOpen: boolean;
  readonly dialog: "palette" | "help" | undefined;
  readonly set: (change: Partial<Omit<LayoutState, "set">>) => void;
};

// Not there where it is drawn without a browser.
const isWide: MediaQueryList | undefined = globalThis.matchMedia?.("(min-width: 1024px)");

export const useLayout: UseBoundStore<StoreApi<LayoutState>> = create<LayoutState>()((set) => ({
  isListOpen: isWide?.matches ?? false,
  isInspectorOpen: false,
  dialog: undefined,
  set,
}));

// Over a page that has become narrow it would lie in the way.
isWide?.addEventListener("change", ({ matches }) => useLayout.setState({ isListOpen: matches }));
