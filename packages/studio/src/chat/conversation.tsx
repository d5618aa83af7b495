import { type ReactNode, useMemo, useRef, useState } from "react";
import { factIndex } from "../data/fact-index.ts";
import { type OpenSession, reopen, useDeletedSessions, useOpenSession } from "../data/open-session.ts";
import { useSessionList } from "../data/session-list.ts";
import { useInspectorFocus } from "../inspector/focus.ts";
import { showView, useNewestView } from "../panel/view-state.ts";
import { useLayout } from "../shell/layout-state.ts";
import { Loading } from "../ui/state.tsx";
import { Announcer } from "./announcer.tsx";
import { useSaying } from "./composer/use-send-message.ts";
import { ConnectionBar } from "./connection-bar.tsx";
import { type ConversationActions, ConversationContext } from "./conversation-context.ts";
import { ConversationFoot } from "./conversation-foot.tsx";
import { ConversationHeader } from "./conversation-header.tsx";
import { GoneSession } from "./gone-session.tsx";
import { Transcript } from "./messages/transcript.tsx";
import { type OpenedSource, SourcePanel } from "./source-panel.tsx";
import { useBranching } from "./use-branching.ts";

/** A session, to read and to go on with. */
export function Conversation({ sessionId }: { readonly sessionId: string }): ReactNode {
  const [opening, setOpening] = useState(0);
  const isDeleted = useDeletedSessions(({ ids }) => ids.includes(sessionId));
  function again(): void {
    reopen(sessionId);
    setOpening(opening + 1);
  }
  if (isDeleted) return <GoneSession wasHere />;
  return <Opening key={opening} sessionId={sessionId} onReopen={again} />;
}

function Opening({ sessionId, onReopen }: { readonly sessionId: string; onReopen(): void }): ReactNode {
  const session = useOpenSession(sessionId);
  if (!session) return null;
  const { state, view } = session;
  const isGone = state.type === "ended" && state.error?.code === "not_found";
  if (isGone) return <GoneSession wasHere={view.seq > 0} />;
  return <OpenConversation session={session} onReopen={onReopen} />;
}

type OpenConversationProps = { readonly session: OpenSession; readonly onReopen: () => void };

function OpenConversation({ session, onReopen }: OpenConversationProps): ReactNode {
  const { id, view, facts, state } = session;
  const index = factIndex(facts);
  const [source, setSource] = useState<OpenedSource>();
  const actions = useActions(session, setSource);
  useNewestView(index.views);
  const branching = useBranching(session, index);
  const [told, setTold] = useState<readonly string[]>([]);
  const [jumpOn, setJumpOn] = useState(0);
  const saying = useSaying(session, index, (text) => {
    setJumpOn(jumpOn + 1);
    if (text !== undefined) setTold((before) => [...before, text].slice(-5));
  });
  const agent = view.entries.findLast((entry) => entry.type === "assistant")?.agent;
  const listed = useSessionList((list) => list.sessions?.find((one) => one.id === id)?.title);
  return (
    <ConversationContext value={actions}>
      <ConversationHeader
        sessionId={id}
        title={listed ?? branching.title ?? "Conversation"}
        agent={agent ?? index.runStarts.get(view.runId ?? "")?.agent}
        state={state}
      />
      <ConnectionBar state={state} onReopen={onReopen} />
      {view.seq === 0 && state.type === "connecting" ? (
        <div className="flex-1">
          <Loading label="Loading the conversation" />
        </div>
      ) : (
        <Transcript
          session={session}
          index={index}
          branching={branching}
          told={told}
          jumpOn={jumpOn}
          onReply={saying.say}
        />
      )}
      <ConversationFoot session={session} index={index} branching={branching} saying={saying} />
      <Announcer view={view} />
      <SourcePanel source={source} index={index} onClose={() => setSource(undefined)} />
    </ConversationContext>
  );
}

/** The same object for as long as the session is shown. */
function useActions(session: OpenSession, openSource: (source: OpenedSource) => void): ConversationActions {
  const { id, facts } = session;
  const open = useRef(openSource);
  open.current = openSource;
  return useMemo(
    () => ({
      sessionId: id,
      index: () => factIndex(facts),
      openSource: (source) => open.current(source),
      showFact(seq) {
        useInspectorFocus.getState().set({ factSeq: seq, tab: "timeline" });
        useLayout.getState().set({ isInspectorOpen: true });
      },
      showView(hint) {
        // Beside the conversation there is one or the other.
        useLayout.getState().set({ isInspectorOpen: false });
        showView(hint);
      },
    }),
    [id, facts],
  );
}
