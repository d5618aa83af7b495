import type { ReactNode } from "react";
import { Dialog } from "../ui/dialog.tsx";
import { useLayout } from "./layout-state.ts";
import { shortcuts } from "./shortcuts.ts";

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** Dialog with the keyboard shortcuts. */
export function HelpSheet(): ReactNode {
  const { dialog, set } = useLayout();
  return (
    <Dialog title="Keyboard shortcuts" isOpen={dialog === "help"} onClose={() => set({ dialog: undefined })}>
      <KeyList />
    </Dialog>
  );
}

/** List of keyboard shortcuts. */
export function KeyList(): ReactNode {
  return (
    <dl className="grid grid-cols-[auto_1fr] items-center gap-x-6 gap-y-2.5 text-sm">
      {shortcuts.map(({ keys, description }) => (
        <div key={description} className="contents">
          <dt className="flex gap-1">
            {keys.split(" ").map((key) => (
              <kbd key={key} className="rounded border bg-sunken px-1.5 py-0.5 font-sans text-xs text-quiet">
                {key === "Mod" ? (isMac ? "⌘" : "Ctrl") : key}
              </kbd>
            ))}
          </dt>
          <dd>{description}</dd>
        </div>
      ))}
    </dl>
  );
}
