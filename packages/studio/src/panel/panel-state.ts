import type { UiHint } from "capstan";
import { useEffect, useSyncExternalStore } from "react";
import { create, type StoreApi, type UseBoundStore } from "zustand";

/** State of the panel. */
export type PanelState = {
  /** Newest view of the session or of the replayed moment. */
  readonly newest: UiHint | undefined;
  /** A view selected by the user, until a newer one arrives. */
  readonly chosen: UiHint | undefined;
  /** False once the user closes the panel; remembered. */
  readonly isOpen: boolean;
};

const storageKey = "capstan-view";

const usePanel: UseBoundStore<StoreApi<PanelState>> = create<PanelState>()(() => ({
  newest: undefined,
  chosen: undefined,
  isOpen: globalThis.localStorage?.getItem(storageKey) !== "closed",
}));

/** Opens or closes the panel for all sessions. */
export function setPanelOpen(isOpen: boolean): void {
  if (isOpen) localStorage.removeItem(storageKey);
  else localStorage.setItem(storageKey, "closed");
  usePanel.setState({ isOpen });
}

/** Selects a view and opens the panel. */
export function showView(chosen: UiHint): void {
  usePanel.setState({ chosen });
  setPanelOpen(true);
  focusView(performance.now());
}

const focusTimeoutMs = 2000;

/** Retries until the panel has loaded. */
function focusView(since: number): void {
  const panel = document.querySelector<HTMLElement>("[data-view]");
  if (panel) panel.focus();
  else if (performance.now() - since < focusTimeoutMs) requestAnimationFrame(() => focusView(since));
}

/** Returns the view to show. */
export function useShownView(): UiHint | undefined {
  return usePanel(({ newest, chosen }) => chosen ?? newest);
}

/** Publishes the newest view of the mounted session. */
export function useNewestView(newest: UiHint | undefined): void {
  useEffect(() => usePanel.setState({ newest, chosen: undefined }), [newest]);
  useEffect(() => () => usePanel.setState({ newest: undefined, chosen: undefined }), []);
}

/** Wide enough for the conversation and a panel. */
const wideQuery = "(min-width: 1280px)";

function onWidthChange(listener: () => void): () => void {
  const mediaQuery = matchMedia(wideQuery);
  mediaQuery.addEventListener("change", listener);
  return () => mediaQuery.removeEventListener("change", listener);
}

export function useIsWide(): boolean {
  return useSyncExternalStore(
    onWidthChange,
    () => matchMedia(wideQuery).matches,
    () => false,
  );
}

/** Whether maps and graphs are shown in the panel. */
export function useHasView(): boolean {
  const isWide = useIsWide();
  const isShown = usePanel(({ newest, isOpen }) => isOpen && newest !== undefined);
  return isWide && isShown;
}
