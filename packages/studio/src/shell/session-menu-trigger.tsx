import type { ListedSession } from "capstan/client";
import { MoreHorizontal } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { IconButton } from "../ui/button.tsx";
import { escapeBidi } from "../ui/escape-text.ts";

type SessionMenuTriggerProps = Omit<ComponentProps<typeof IconButton>, "label"> & {
  readonly session: Pick<ListedSession, "title">;
};

/** The button of the menu, before and after the menu is loaded. */
export function SessionMenuTrigger({ session, ...rest }: SessionMenuTriggerProps): ReactNode {
  return (
    <IconButton {...rest} label={`Actions for ${escapeBidi(session.title)}`} className="size-7">
      <MoreHorizontal size={15} />
    </IconButton>
  );
}
