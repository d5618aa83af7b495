import type { ReactNode } from "react";
import { Link } from "wouter";
import { Nothing } from "../ui/state.tsx";
import { ListToggle } from "./conversation-header.tsx";

/** In place of a session that is not there: nothing to read, and nowhere to write. */
export function GoneSession({ wasHere }: { readonly wasHere: boolean }): ReactNode {
  return (
    <>
      <header className="flex h-12 shrink-0 items-center gap-1 px-2 sm:px-3">
        <ListToggle />
      </header>
      <Nothing
        title={wasHere ? "This session was deleted" : "There is no such session"}
        action={
          <Link href="/" className="text-sm font-medium text-accent underline underline-offset-4">
            Start a new chat
          </Link>
        }
      >
        {wasHere ? "All that was said in it is gone." : "It was deleted, or the address is not right."}
      </Nothing>
    </>
  );
}
