import { type ReactNode, useMemo, useRef, useState } from "react";
import { isAppAgent } from "../data/agents.ts";
import { useLoadFeedback } from "../data/feedback.ts";
import { dropWatch, type OpenSession, useDeletedSessions, useOpenSession } from "../data/open-session.ts";
import { useSessionList } from "../data/session-list.ts";
import { useInspectorFocus } from "../inspector/focus.ts";
import { showView, useNewestView } from "../panel/panel-state.ts";
import { findPanelView } from "../panel/panel-views.ts";
import { useLayout } from "../shell/layout-state.ts";
import { Loading } from "../ui/state.tsx";
import { Announcer } from "./announcer.tsx";
import { type SendMessage, useSendMessage } from "./composer/use-send-message.ts";
import { ConnectionBar } from "./connection-bar.tsx";
import { type ConversationActions, ConversationContext } from "./conversation-context.ts";
import { ConversationFooter } from "./conversation-footer.tsx";
import { ConversationHeader } from "./conversation-header.tsx";
import type { SentText } from "./messages/find-queued.ts";
import { Transcript } from "./messages/transcript.tsx";
import { MissingSession } from "./missing-session.tsx";
import { type OpenedSource, SourcePanel } from "./source-panel.tsx";
import { StuckNote } from "./stuck-note.tsx";
import { useBranching } from "./use-branching.ts";
import { useListedState } from "./use-listed-state.ts";
import { useRunInAddress } from "./use-run-in-address.ts";

/** A session with its messages and the composer. */
export function Conversation({ sessionId }: { readonly sessionId: string }): ReactNode {
  const [openCount, setOpenCount] = useState(0);
  const isDeleted = useDeletedSessions(({ ids }) => ids.includes(sessionId));
  function retry(): void {
    dropWatch(sessionId);
    setOpenCount(openCount + 1);
  }
  if (isDeleted) return <MissingSession wasDeleted />;
  return <SessionLoader key={openCount} sessionId={sessionId} onReopen={retry} />;
}

function SessionLoader({ sessionId, onReopen }: { readonly sessionId: string; onReopen(): void }): ReactNode {
  const session = useOpenSession(sessionId);
  if (!session) return null;
  const { state, view } = session;
  const isMissing = state.type === "ended" && state.error?.code === "not_found";
  if (isMissing) return <MissingSession wasDeleted={view.seq > 0} />;
  return <ConversationView session={session} onReopen={onReopen} />;
}

type ConversationViewProps = { readonly session: OpenSession; readonly onReopen: () => void };

function ConversationView({ session, onReopen }: ConversationViewProps): ReactNode {
  const { id, view, state } = session;
  const [source, setSource] = useState<OpenedSource>();
  useNewestView(findPanelView(view.hints));
  const branching = useBranching(session);
  useLoadFeedback(id);
  useRunInAddress(session);
  useListedState(session);
  const [sentTexts, setSentTexts] = useState<readonly SentText[]>([]);
  const [scrollKey, setScrollKey] = useState(0);
  const sendMessage = useSendMessage(session, (text) => {
    setScrollKey(scrollKey + 1);
    if (text !== undefined) setSentTexts((earlier) => [...earlier, text].slice(-20));
  });
  const actions = useActions(session, { openSource: setSource, sendMessage: sendMessage.send });
  const agent = view.entries.findLast((entry) => entry.type === "assistant" && !isAppAgent(entry.agent));
  const listedTitle = useSessionList(
    (list) => list.sessions?.find((listedSession) => listedSession.id === id)?.title,
  );
  return (
    <ConversationContext value={actions}>
      <ConversationHeader
        sessionId={id}
        title={listedTitle ?? branching.title ?? "Conversation"}
        agent={agent?.type === "assistant" ? agent.agent : view.runs.get(view.runId ?? "")?.start?.agent}
        state={state}
      />
      <ConnectionBar state={state} onReopen={onReopen} />
      {view.seq === 0 && state.type === "connecting" ? (
        <div className="flex-1">
          <Loading label="Loading conversation" />
        </div>
      ) : (
        <Transcript
          session={session}
          branching={branching}
          sentTexts={sentTexts}
          scrollKey={scrollKey}
          onReply={sendMessage.send}
        />
      )}
      <StuckNote session={session} />
      <ConversationFooter session={session} branching={branching} sendMessage={sendMessage} />
      <Announcer view={view} />
      <SourcePanel source={source} fragments={view.fragments} onClose={() => setSource(undefined)} />
    </ConversationContext>
  );
}

/** Returns a stable object while the session is shown. */
function useActions(
  { id, watch }: OpenSession,
  handlers: {
    readonly openSource: (source: OpenedSource) => void;
    readonly sendMessage: SendMessage["send"];
  },
): ConversationActions {
  const latest = useRef(handlers);
  latest.current = handlers;
  return useMemo(
    () => ({
      sessionId: id,
      getView: watch.view,
      openSource: (source) => latest.current.openSource(source),
      sendMessage: (text, provenance) => latest.current.sendMessage(text, provenance),
      showFact(seq) {
        useInspectorFocus.getState().set({ factSeq: seq, tab: "timeline" });
        useLayout.getState().set({ isInspectorOpen: true });
      },
      showView(hint) {
        // The inspector and the panel share the same place.
        useLayout.getState().set({ isInspectorOpen: false });
        showView(hint);
      },
    }),
    [id, watch],
  );
}
