import { DropdownMenu as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";

export type MenuItem = {
  readonly label: string;
  readonly icon?: ReactNode;
  readonly isDangerous?: boolean;
  readonly onSelect: () => void;
};

type MenuProps = {
  readonly trigger: ReactNode;
  readonly items: readonly MenuItem[];
  readonly isInitiallyOpen?: boolean;
};

/** A dropdown menu. */
export function Menu({ trigger, items, isInitiallyOpen = false }: MenuProps): ReactNode {
  return (
    <Radix.Root defaultOpen={isInitiallyOpen}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align="end"
          sideOffset={4}
          onCloseAutoFocus={(event) => {
            // A dialog opened from this menu already has the focus.
            if (document.activeElement?.closest("[role=dialog]")) event.preventDefault();
          }}
          className="z-50 min-w-44 rounded-lg border bg-raised p-1 text-sm shadow-lifted"
        >
          {items.map(({ label, icon, isDangerous, onSelect }) => (
            <Radix.Item
              key={label}
              onSelect={onSelect}
              className={classNames(
                "flex h-8 pointer-coarse:h-11 cursor-pointer select-none items-center gap-2 rounded-md px-2.5 outline-none",
                "data-highlighted:bg-sunken",
                isDangerous && "text-bad",
              )}
            >
              {icon}
              {label}
            </Radix.Item>
          ))}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
