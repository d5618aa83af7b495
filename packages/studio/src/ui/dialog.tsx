import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { type ReactNode, useRef } from "react";
import { IconButton } from "./button.tsx";
import { classNames } from "./class-names.ts";

type DialogProps = {
  readonly title: string;
  readonly description?: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** `side`: a full-height panel on the right. */
  readonly placement?: "middle" | "wide" | "side";
};

const placements = {
  middle:
    "left-1/2 top-[12vh] max-h-[76vh] w-[min(36rem,calc(100vw-2rem))] -translate-x-1/2 rounded-xl border",
  wide: "left-1/2 top-[4vh] max-h-[92vh] w-[min(64rem,calc(100vw-1rem))] -translate-x-1/2 rounded-xl border",
  side: "right-0 top-0 h-full w-[min(34rem,100vw)] border-l",
} as const;

/** Returns the element that gets the focus back. A menu closes with its dialog, so its trigger is used instead. */
function findOpener(focused: Element | null): Element | null {
  const menu = focused?.closest("[role=menu]");
  return menu ? document.getElementById(menu.getAttribute("aria-labelledby") ?? "") : focused;
}

/** A modal dialog. Traps the focus and restores it on close. */
export function Dialog({
  title,
  description,
  isOpen,
  onClose,
  children,
  placement = "middle",
}: DialogProps): ReactNode {
  // Most dialogs have no trigger: they are opened by a shortcut or from a menu.
  const focusReturn = useRef<Element>(null);
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-50 bg-black/35" />
        <Radix.Content
          className={classNames(
            "fixed z-50 flex flex-col overflow-hidden bg-raised shadow-lifted focus:outline-none",
            placements[placement],
          )}
          onOpenAutoFocus={(event) => {
            focusReturn.current = findOpener(document.activeElement);
            const content = event.currentTarget as HTMLElement;
            const field =
              content.querySelector<HTMLElement>("[data-first]") ??
              content.querySelector<HTMLElement>("input:not([hidden]), textarea, select");
            if (!field) return;
            event.preventDefault();
            field.focus();
          }}
          onCloseAutoFocus={(event) => {
            const { current } = focusReturn;
            if (!(current instanceof HTMLElement && current.isConnected)) return;
            event.preventDefault();
            current.focus();
          }}
          {...(description === undefined && { "aria-describedby": undefined })}
        >
          <div
            className={classNames(
              "flex gap-3 border-b py-2.5 pl-5 pr-3",
              description === undefined ? "items-center" : "items-start",
            )}
          >
            <div className="min-w-0 flex-1">
              <Radix.Title className="font-semibold">{title}</Radix.Title>
              {description !== undefined && (
                <Radix.Description className="text-sm text-quiet">{description}</Radix.Description>
              )}
            </div>
            <Radix.Close asChild>
              <IconButton label="Close">
                <X size={16} />
              </IconButton>
            </Radix.Close>
          </div>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 py-4 [&_form>[role=alert]]:m-0">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
