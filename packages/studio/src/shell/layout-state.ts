import { create, type StoreApi, type UseBoundStore } from "zustand";

/** Which parts of the layout are open. */
export type LayoutState = {
  /** On a phone the sidebar covers the page. */
  readonly isListOpen: boolean;
  readonly isInspectorOpen: boolean;
  readonly dialog: "palette" | "help" | undefined;
  readonly set: (change: Partial<Omit<LayoutState, "set">>) => void;
};

// Undefined when rendering without a browser.
const wideQuery: MediaQueryList | undefined = globalThis.matchMedia?.("(min-width: 1024px)");

export const useLayout: UseBoundStore<StoreApi<LayoutState>> = create<LayoutState>()((set) => ({
  isListOpen: wideQuery?.matches ?? false,
  isInspectorOpen: false,
  dialog: undefined,
  set,
}));

// Close the sidebar when the window becomes narrow.
wideQuery?.addEventListener("change", ({ matches }) => useLayout.setState({ isListOpen: matches }));
