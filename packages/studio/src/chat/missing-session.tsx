import type { ReactNode } from "react";
import { Link } from "wouter";
import { SidebarToggle } from "../shell/sidebar-toggle.tsx";
import { EmptyState } from "../ui/state.tsx";

/** Shown for a session that does not exist. */
export function MissingSession({ wasDeleted }: { readonly wasDeleted: boolean }): ReactNode {
  return (
    <>
      <header className="flex h-12 shrink-0 items-center gap-1 px-2 sm:px-3">
        <SidebarToggle />
      </header>
      <EmptyState
        title={wasDeleted ? "This session was deleted" : "Session not found"}
        action={
          <Link href="/" className="text-sm font-medium text-accent underline underline-offset-4">
            Start a new chat
          </Link>
        }
      >
        {wasDeleted ? "Its messages were deleted too." : "It may have been deleted, or the link is wrong."}
      </EmptyState>
    </>
  );
}
