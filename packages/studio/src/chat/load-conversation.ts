/** Loads the code that shows a session, which the start page does without. */
export function loadConversation(): Promise<typeof import("./conversation.tsx")> {
  return import("./conversation.tsx");
}

/** Loads it before a session is shown, which reports an error. */
export function preloadConversation(): void {
  loadConversation().catch(() => undefined);
}
