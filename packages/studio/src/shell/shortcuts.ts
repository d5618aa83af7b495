import { useEffect } from "react";
import { useLocation } from "wouter";
import { useNewChatPath } from "../data/current-agent.ts";
import { useLayout } from "./layout-state.ts";

/** A keyboard shortcut, as shown in the help. */
export type Shortcut = { readonly keys: string; readonly description: string };

export const shortcuts: readonly Shortcut[] = [
  { keys: "Enter", description: "Send" },
  { keys: "Shift Enter", description: "New line" },
  { keys: "Esc", description: "Stop the run or close the dialog" },
  { keys: "↑", description: "Edit your last message (in an empty prompt)" },
  { keys: "Mod K", description: "Find sessions, pages and actions" },
  { keys: "Mod Shift O", description: "New chat" },
  { keys: "Mod B", description: "Toggle sidebar" },
  { keys: "Mod I", description: "Toggle inspector" },
  { keys: "/", description: "Focus the prompt" },
  { keys: "?", description: "Show keyboard shortcuts" },
];

const isTyping = ({ target }: KeyboardEvent) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Registers the global keyboard shortcuts. */
export function useShortcuts(): void {
  const [, navigate] = useLocation();
  const newChatPath = useNewChatPath();
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      const { isListOpen, isInspectorOpen, set } = useLayout.getState();
      const isMod = event.metaKey || event.ctrlKey;
      const actions: Record<string, () => void> = isMod
        ? {
            k: () => set({ dialog: "palette" }),
            b: () => set({ isListOpen: !isListOpen }),
            i: () => set({ isInspectorOpen: !isInspectorOpen }),
            ...(event.shiftKey && { o: () => navigate(newChatPath) }),
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
  }, [navigate, newChatPath]);
}
