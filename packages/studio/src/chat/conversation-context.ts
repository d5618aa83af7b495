import type { UiHint } from "capstan";
import { type Context, createContext, useContext } from "react";
import type { FactIndex } from "../data/fact-index.ts";

/** What the parts of a conversation can do. It stays the same object, so that finished parts are not drawn again. */
export type ConversationActions = {
  readonly sessionId: string;
  readonly index: () => FactIndex;
  /** Shows what stands behind `[n]`. */
  openSource(citation: { readonly n: number; readonly id: string; readonly title: string }): void;
  /** Opens the timeline at a fact. */
  showFact(seq: number): void;
  /** Shows a map or a graph beside the conversation. */
  showView(hint: UiHint): void;
};

export const ConversationContext: Context<ConversationActions | undefined> = createContext<
  ConversationActions | undefined
>(undefined);

/** For parts of a conversation. */
export function useConversation(): ConversationActions {
  const actions = useContext(ConversationContext);
  if (!actions) throw new Error("This is shown outside of a conversation.");
  return actions;
}
