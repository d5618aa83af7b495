import { AbstractChat, type ChatInit, type ChatState, type UIMessage } from "ai";

/** The core of `useChat`, with its state in a plain object. */
export class PlainChat extends AbstractChat<UIMessage> {
  constructor(options: ChatInit<UIMessage>) {
    const state: ChatState<UIMessage> = {
      status: "ready",
      error: undefined,
      messages: [],
      pushMessage: (message) => void state.messages.push(message),
      popMessage: () => void state.messages.pop(),
      replaceMessage: (index, message) => void state.messages.splice(index, 1, message),
      snapshot: (thing) => structuredClone(thing),
    };
    super({ ...options, state });
  }
}
