/*
 * The items of a response and the events that tell of them: each is added, filled and done, in this order. What a model began
 * to say and said anew is done as `incomplete`, and is not in the response at its end.
 */

/** An event of the stream before it has its number. */
export type Said = { readonly type: string } & { readonly [field: string]: unknown };
export type Say = (event: Said) => void;

export type OutputItem = { readonly id: string; readonly type: string } & {
  readonly [field: string]: unknown;
};

/** What was said or thought, piece by piece. */
export interface SaidText {
  readonly kind: "text" | "reasoning";
  text(): string;
  isOpen(): boolean;
  append(delta: string): void;
  end(): void;
  /** What was shown is void. */
  withdraw(): void;
}

export interface ShownCall {
  end(outcome: CallOutcome): void;
}

export type CallOutcome =
  | { readonly status: "completed"; readonly output: string }
  | { readonly status: "failed"; readonly error: string }
  /** Not over when the response is. */
  | { readonly status: "incomplete" };

export type NamedCall = { readonly id: string; readonly name: string; readonly arguments: string };

export interface ResponseOutput {
  text(id: string): SaidText;
  reasoning(id: string): SaidText;
  /** Of a tool that runs here. */
  call(call: NamedCall & { readonly approvalId: string | undefined }): ShownCall;
  /** Of a function that the client is to run. */
  functionCall(call: NamedCall & { readonly callId: string }): void;
  approval(asked: NamedCall): void;
  items(): readonly OutputItem[];
}

/** Our own tools are shown as those of this server. */
export const serverLabel = "capstan";

/** Says what it is given, and keeps it. */
export function responseOutput(say: Say): ResponseOutput {
  const slots: { item: OutputItem; isVoid: boolean }[] = [];

  function add(item: OutputItem) {
    const slot = { item, isVoid: false };
    const output_index = slots.push(slot) - 1;
    say({ type: "response.output_item.added", output_index, item });
    const at = { item_id: item.id, output_index };
    return {
      at,
      /** What it is by now, for whoever asks before it is done. */
      become: (fields: object) => {
        slot.item = { ...slot.item, ...fields };
      },
      done(fields: object): void {
        slot.item = { ...slot.item, ...fields };
        say({ type: "response.output_item.done", output_index, item: slot.item });
      },
      void: () => {
        slot.isVoid = true;
      },
    };
  }

  return {
    text: (id) => messageText(add(newMessage(id)), say),
    reasoning: (id) => reasoningText(add({ id, type: "reasoning", summary: [] }), say),
    call: (call) => shownCall(add(newCall(call)), call, say),
    functionCall({ callId: call_id, id, name, arguments: written }) {
      const call = { id, type: "function_call", call_id, name };
      const { at, done } = add({ ...call, arguments: "", status: "in_progress" });
      say({ type: "response.function_call_arguments.delta", ...at, delta: written });
      say({ type: "response.function_call_arguments.done", ...at, name, arguments: written });
      done({ arguments: written, status: "completed" });
    },
    approval(asked) {
      add({ ...asked, type: "mcp_approval_request", server_label: serverLabel }).done({});
    },
    items: () => slots.flatMap(({ item, isVoid }) => (isVoid ? [] : [item])),
  };
}

type Added = {
  readonly at: { readonly item_id: string; readonly output_index: number };
  become(fields: object): void;
  done(fields: object): void;
  void(): void;
};

function newMessage(id: string): OutputItem {
  return { id, type: "message", role: "assistant", status: "in_progress", content: [] };
}

function messageText({ at, become, done, void: withdrawn }: Added, say: Say): SaidText {
  const place = { ...at, content_index: 0 };
  const part = () => ({ type: "output_text", text, annotations: [], logprobs: [] });
  let text = "";
  let isOpen = true;
  say({ type: "response.content_part.added", ...place, part: part() });

  function end(status: "completed" | "incomplete"): void {
    if (!isOpen) return;
    isOpen = false;
    say({ type: "response.output_text.done", ...place, text, logprobs: [] });
    say({ type: "response.content_part.done", ...place, part: part() });
    done({ status, content: [part()] });
  }
  return {
    kind: "text",
    text: () => text,
    isOpen: () => isOpen,
    append(delta) {
      text += delta;
      become({ content: [part()] });
      say({ type: "response.output_text.delta", ...place, delta, logprobs: [] });
    },
    end: () => end("completed"),
    withdraw() {
      end("incomplete");
      withdrawn();
    },
  };
}

function reasoningText({ at, become, done, void: withdrawn }: Added, say: Say): SaidText {
  const place = { ...at, summary_index: 0 };
  const part = () => ({ type: "summary_text", text });
  let text = "";
  let isOpen = true;
  say({ type: "response.reasoning_summary_part.added", ...place, part: part() });

  function end(): void {
    if (!isOpen) return;
    isOpen = false;
    say({ type: "response.reasoning_summary_text.done", ...place, text });
    say({ type: "response.reasoning_summary_part.done", ...place, part: part() });
    done({ summary: [part()] });
  }
  return {
    kind: "reasoning",
    text: () => text,
    isOpen: () => isOpen,
    append(delta) {
      text += delta;
      become({ summary: [part()] });
      say({ type: "response.reasoning_summary_text.delta", ...place, delta });
    },
    end,
    withdraw() {
      end();
      withdrawn();
    },
  };
}

function newCall({ id, name, approvalId }: Parameters<ResponseOutput["call"]>[0]): OutputItem {
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

function shownCall({ at, become, done }: Added, { arguments: written }: NamedCall, say: Say): ShownCall {
  say({ type: "response.mcp_call.in_progress", ...at });
  say({ type: "response.mcp_call_arguments.delta", ...at, delta: written });
  say({ type: "response.mcp_call_arguments.done", ...at, arguments: written });
  become({ arguments: written });
  return {
    end(outcome) {
      const { status } = outcome;
      if (status !== "incomplete") say({ type: `response.mcp_call.${status}`, ...at });
      done(outcome.status === "failed" ? { status, error: failure(outcome.error) } : outcome);
    },
  };
}

function failure(content: string): object {
  return { type: "mcp_tool_execution_error", content: [{ type: "text", text: content }] };
}
