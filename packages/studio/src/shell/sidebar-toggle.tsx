import { PanelLeft } from "lucide-react";
import type { ReactNode } from "react";
import { IconButton } from "../ui/button.tsx";
import { useLayout } from "./layout-state.ts";

/** Shows or hides the sidebar. */
export function SidebarToggle(): ReactNode {
  const { isListOpen, set } = useLayout();
  return (
    <IconButton
      label={isListOpen ? "Hide sidebar" : "Show sidebar"}
      onClick={() => set({ isListOpen: !isListOpen })}
    >
      <PanelLeft size={16} />
    </IconButton>
  );
}
