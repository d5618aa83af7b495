/*
 * The items of a response and their events: each item is added, filled and done, in this order. A restarted message
 * is done as `incomplete` and removed from the final response.
 */

/** An event without its sequence number. */
export type ResponseEventBody = { readonly type: string } & { readonly [field: string]: unknown };
export type EventSink = (event: ResponseEventBody) => void;

export type OutputItem = { readonly id: string; readonly type: string } & {
  readonly [field: string]: unknown;
};

/** An item with streamed text or reasoning. */
export interface OutputText {
  readonly kind: "text" | "reasoning";
  getText(): string;
  isOpen(): boolean;
  append(delta: string): void;
  endText(logprobs?: readonly object[]): void;
  /** Removes the item from the final response. */
  withdraw(): void;
}

export interface OutputCall {
  end(outcome: CallOutcome): void;
}

export type CallOutcome =
  | { readonly status: "completed"; readonly output: string }
  | { readonly status: "failed"; readonly error: string }
  /** Still running when the response ends. */
  | { readonly status: "incomplete" };

export type NamedCall = { readonly id: string; readonly name: string; readonly arguments: string };

export interface ResponseOutput {
  addText(id: string): OutputText;
  addReasoning(id: string): OutputText;
  /** Adds a call of a server-side tool. */
  addCall(call: NamedCall & { readonly approvalId: string | undefined }): OutputCall;
  /** Adds a call of a client-side tool. */
  addFunctionCall(call: NamedCall & { readonly callId: string }): void;
  addApproval(asked: NamedCall): void;
  getItems(): readonly OutputItem[];
}

/** Label of the server's own tools. */
export const serverLabel = "capstan";

/** Creates the list of output items; emits an event for each change. */
export function createResponseOutput(emit: EventSink): ResponseOutput {
  const slots: { item: OutputItem; isVoid: boolean }[] = [];

  function addItem(item: OutputItem) {
    const slot = { item, isVoid: false };
    const output_index = slots.push(slot) - 1;
    emit({ type: "response.output_item.added", output_index, item });
    const at = { item_id: item.id, output_index };
    return {
      at,
      /** Updates the item for readers that ask before it is complete. */
      update: (fields: object) => {
        slot.item = { ...slot.item, ...fields };
      },
      complete(fields: object): void {
        slot.item = { ...slot.item, ...fields };
        emit({ type: "response.output_item.done", output_index, item: slot.item });
      },
      discard: () => {
        slot.isVoid = true;
      },
    };
  }

  return {
    addText: (id) => createMessageText(addItem(buildMessageItem(id)), emit),
    addReasoning: (id) => createReasoningText(addItem({ id, type: "reasoning", summary: [] }), emit),
    addCall: (call) => createOutputCall(addItem(buildCallItem(call)), call, emit),
    addFunctionCall({ callId: call_id, id, name, arguments: written }) {
      const call = { id, type: "function_call", call_id, name };
      const { at, complete } = addItem({ ...call, arguments: "", status: "in_progress" });
      emit({ type: "response.function_call_arguments.delta", ...at, delta: written });
      emit({ type: "response.function_call_arguments.done", ...at, name, arguments: written });
      complete({ arguments: written, status: "completed" });
    },
    addApproval(asked) {
      addItem({ ...asked, type: "mcp_approval_request", server_label: serverLabel }).complete({});
    },
    getItems: () => slots.flatMap(({ item, isVoid }) => (isVoid ? [] : [item])),
  };
}

type AddedItem = {
  readonly at: { readonly item_id: string; readonly output_index: number };
  update(fields: object): void;
  complete(fields: object): void;
  discard(): void;
};

function buildMessageItem(id: string): OutputItem {
  return { id, type: "message", role: "assistant", status: "in_progress", content: [] };
}

function createMessageText({ at, update, complete, discard }: AddedItem, emit: EventSink): OutputText {
  const position = { ...at, content_index: 0 };
  const buildPart = () => ({ type: "output_text", text, annotations: [], logprobs });
  let text = "";
  let logprobs: readonly object[] = [];
  let isOpen = true;
  emit({ type: "response.content_part.added", ...position, part: buildPart() });

  function endText(status: "completed" | "incomplete"): void {
    if (!isOpen) return;
    isOpen = false;
    emit({ type: "response.output_text.done", ...position, text, logprobs });
    emit({ type: "response.content_part.done", ...position, part: buildPart() });
    complete({ status, content: [buildPart()] });
  }
  return {
    kind: "text",
    getText: () => text,
    isOpen: () => isOpen,
    append(delta) {
      text += delta;
      update({ content: [buildPart()] });
      emit({ type: "response.output_text.delta", ...position, delta, logprobs: [] });
    },
    endText(reported = []) {
      logprobs = reported;
      endText("completed");
    },
    withdraw() {
      endText("incomplete");
      discard();
    },
  };
}

function createReasoningText({ at, update, complete, discard }: AddedItem, emit: EventSink): OutputText {
  const position = { ...at, summary_index: 0 };
  const buildPart = () => ({ type: "summary_text", text });
  let text = "";
  let isOpen = true;
  emit({ type: "response.reasoning_summary_part.added", ...position, part: buildPart() });

  function endText(): void {
    if (!isOpen) return;
    isOpen = false;
    emit({ type: "response.reasoning_summary_text.done", ...position, text });
    emit({ type: "response.reasoning_summary_part.done", ...position, part: buildPart() });
    complete({ summary: [buildPart()] });
  }
  return {
    kind: "reasoning",
    getText: () => text,
    isOpen: () => isOpen,
    append(delta) {
      text += delta;
      update({ summary: [buildPart()] });
      emit({ type: "response.reasoning_summary_text.delta", ...position, delta });
    },
    endText,
    withdraw() {
      endText();
      discard();
    },
  };
}

function buildCallItem({ id, name, approvalId }: Parameters<ResponseOutput["addCall"]>[0]): OutputItem {
  return {
    id,
    type: "mcp_call",
    server_label: serverLabel,
    name,
    arguments: "",
    approval_request_id: approvalId ?? null,
    output: null,
    error: null,
    status: "in_progress",
  };
}

function createOutputCall(
  { at, update, complete }: AddedItem,
  { arguments: written }: NamedCall,
  emit: EventSink,
): OutputCall {
  emit({ type: "response.mcp_call.in_progress", ...at });
  emit({ type: "response.mcp_call_arguments.delta", ...at, delta: written });
  emit({ type: "response.mcp_call_arguments.done", ...at, arguments: written });
  update({ arguments: written });
  return {
    end(outcome) {
      const { status } = outcome;
      if (status !== "incomplete") emit({ type: `response.mcp_call.${status}`, ...at });
      complete(outcome.status === "failed" ? { status, error: buildCallError(outcome.error) } : outcome);
    },
  };
}

function buildCallError(content: string): object {
  return { type: "mcp_tool_execution_error", content: [{ type: "text", text: content }] };
}
