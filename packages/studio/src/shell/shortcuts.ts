import { useEffect } from "react";
import { useLocation } from "wouter";
import { useLayout } from "./layout-state.ts";

/** A key and what it does, as the help sheet shows it. */
export type Shortcut = { readonly keys: string; readonly does: string };

export const shortcuts: readonly Shortcut[] = [
  { keys: "Enter", does: "Send" },
  { keys: "Shift Enter", does: "New line" },
  { keys: "Esc", does: "Stop the run, or close what is open" },
  { keys: "↑", does: "In an empty prompt: edit what you said last" },
  { keys: "Mod K", does: "Find sessions, pages and actions" },
  { keys: "Mod Shift O", does: "New chat" },
  { keys: "Mod B", does: "Show or hide the sessions" },
  { keys: "Mod I", does: "Show or hide the inspector" },
  { keys: "/", does: "Go to the prompt" },
  { keys: "?", does: "Show these keys" },
];

const isTyping = ({ target }: KeyboardEvent) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Listens to the keys that work everywhere. */
export function useShortcuts(): void {
  const [, go] = useLocation();
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      const { isListOpen, isInspectorOpen, set } = useLayout.getState();
      const isMod = event.metaKey || event.ctrlKey;
      const actions: Record<string, () => void> = isMod
        ? {
            k: () => set({ dialog: "palette" }),
            b: () => set({ isListOpen: !isListOpen }),
            i: () => set({ isInspectorOpen: !isInspectorOpen }),
            ...(event.shiftKey && { o: () => go("/") }),
          }
        : {
            "?": () => set({ dialog: "help" }),
            "/": () => document.querySelector<HTMLElement>("[data-prompt]")?.focus(),
          };
      const action = actions[event.key.toLowerCase()];
      if (!action || (!isMod && isTyping(event))) return;
      event.preventDefault();
      action();
    }
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [go]);
}
