import { type LazyComponent, lazy } from "../ui/lazy.tsx";

/** A session. The start page does without its code until a message is typed. */
export const Conversation: LazyComponent<{ readonly sessionId: string }> = lazy(async () => ({
  default: (await import("./conversation.tsx")).Conversation,
}));
