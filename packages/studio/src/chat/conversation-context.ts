import type { UiHint } from "capstan";
import type { SessionView } from "capstan/client";
import { type Context, createContext, useContext } from "react";

/** Actions available to the parts of a conversation. The object is stable, so finished parts do not re-render. */
export type ConversationActions = {
  readonly sessionId: string;
  /** Returns the current view of the session. */
  readonly getView: () => SessionView;
  /** Shows the source of a citation. */
  openSource(citation: { readonly n: number; readonly id: string; readonly title: string }): void;
  /** Opens the timeline at a fact. */
  showFact(seq: number): void;
  /** Sends a message of the user, or one that an application wrote and the user lets through. Absent in a replay. */
  sendMessage?(text: string, provenance?: "application"): Promise<void>;
  /** Shows a map or graph in the side panel. */
  showView(hint: UiHint): void;
};

export const ConversationContext: Context<ConversationActions | undefined> = createContext<
  ConversationActions | undefined
>(undefined);

export function useConversation(): ConversationActions {
  const actions = useContext(ConversationContext);
  if (!actions) throw new Error("useConversation must be used inside a conversation.");
  return actions;
}
