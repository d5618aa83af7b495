import { type ReactNode, useState } from "react";
import type { SessionMenu, SessionMenuProps } from "./session-menu.tsx";
import { SessionMenuTrigger } from "./session-menu-trigger.tsx";
import { runWithToast } from "./toasts.tsx";

const loadMenu = () => import("./session-menu.tsx");
/** Loads the menu ahead of a click, which reports an error. */
const preloadMenu = () => void loadMenu().catch(() => undefined);

/** Opens the menu of a session, which is loaded when it is first needed. */
export function SessionMenuButton(props: SessionMenuProps): ReactNode {
  const [Menu, setMenu] = useState<typeof SessionMenu>();
  if (Menu) return <Menu {...props} isMenuOpen />;
  return (
    <SessionMenuTrigger
      session={props.session}
      aria-haspopup="menu"
      aria-expanded="false"
      onPointerEnter={preloadMenu}
      onClick={() =>
        runWithToast(async () => {
          const loaded = await loadMenu();
          setMenu(() => loaded.SessionMenu);
        })
      }
    />
  );
}
