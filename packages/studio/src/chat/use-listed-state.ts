import type { SessionListItem } from "capstan/client";
import { useEffect } from "react";
import type { OpenSession } from "../data/open-session.ts";
import { useSessionList } from "../data/session-list.ts";

/** Shows the state of the open session in the list of sessions at once; the list is loaded less often. */
export function useListedState({ id, view: { status } }: Pick<OpenSession, "id" | "view">): void {
  const listed = useSessionList(({ sessions }) => sessions?.find((session) => session.id === id));
  useEffect(() => {
    if (!listed || status === "idle") return;
    const now = toListedState(status);
    if (listed.state === now.state && listed.status === now.status) return;
    const { status: _status, ...rest } = listed;
    useSessionList.setState(({ sessions }) => ({
      sessions: sessions?.map((session) => (session === listed ? { ...rest, ...now } : session)),
    }));
  }, [listed, status]);
}

function toListedState(
  status: Exclude<OpenSession["view"]["status"], "idle">,
): Pick<SessionListItem, "state" | "status"> {
  if (status === "running") return { state: "active" };
  return status === "waiting" ? { state: "waiting" } : { state: "ended", status };
}
