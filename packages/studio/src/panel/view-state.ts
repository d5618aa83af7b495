import type { UiHint } from "capstan";
import { useEffect, useSyncExternalStore } from "react";
import { create, type StoreApi, type UseBoundStore } from "zustand";
import type { ViewHint } from "./view-hints.ts";

/** The map or graph beside the conversation. */
export type ViewState = {
  /** Of the session that is shown, or of the moment of a replay. */
  readonly newest: UiHint | undefined;
  /** An older one, until a newer one comes. */
  readonly chosen: UiHint | undefined;
  /** Until the person has closed it: that is remembered. */
  readonly isWanted: boolean;
};

const place = "capstan-view";

const useView: UseBoundStore<StoreApi<ViewState>> = create<ViewState>()(() => ({
  newest: undefined,
  chosen: undefined,
  isWanted: globalThis.localStorage?.getItem(place) !== "closed",
}));

/** Opens or closes it, for this session and those after it. */
export function wantView(isWanted: boolean): void {
  if (isWanted) localStorage.removeItem(place);
  else localStorage.setItem(place, "closed");
  useView.setState({ isWanted });
}

/** Looks at one of them, and opens the view for it. */
export function showView(chosen: UiHint): void {
  useView.setState({ chosen });
  wantView(true);
  focusView(performance.now());
}

const patienceMs = 2000;

/** As soon as it is there: it may have to be loaded first. */
function focusView(since: number): void {
  const panel = document.querySelector<HTMLElement>("[data-view]");
  if (panel) panel.focus();
  else if (performance.now() - since < patienceMs) requestAnimationFrame(() => focusView(since));
}

/** What is to be seen in the view. */
export function useShownView(): UiHint | undefined {
  return useView(({ newest, chosen }) => chosen ?? newest);
}

/** Tells which are there now. Whoever shows a session says so, as long as it does. */
export function useNewestView(views: readonly ViewHint[]): void {
  const newest = views.at(-1)?.hint;
  useEffect(() => useView.setState({ newest, chosen: undefined }), [newest]);
  useEffect(() => () => useView.setState({ newest: undefined, chosen: undefined }), []);
}

/** So wide that the conversation and a panel have room beside each other. */
const deskWidth = "(min-width: 1280px)";

function onDeskChange(listener: () => void): () => void {
  const desk = matchMedia(deskWidth);
  desk.addEventListener("change", listener);
  return () => desk.removeEventListener("change", listener);
}

export function useIsDesk(): boolean {
  return useSyncExternalStore(
    onDeskChange,
    () => matchMedia(deskWidth).matches,
    () => false,
  );
}

/** Whether maps and graphs are beside the conversation, and not in it. */
export function useHasView(): boolean {
  const isDesk = useIsDesk();
  const isThere = useView(({ newest, isWanted }) => isWanted && newest !== undefined);
  return isDesk && isThere;
}
