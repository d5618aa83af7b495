import type { AssistantPart, Entry, Part } from "../../kernel/history.ts";
import type { Io } from "../../kernel/io.ts";
import type { ModelRequest, SentRequest } from "../../kernel/model.ts";
import { hasMedia } from "../media/has-media.ts";
import { createHistoryJoiner } from "./history-joiner.ts";
import type { NewRequest, RequestMedia, RequestPurpose } from "./stored-request.ts";

type ModelCall = {
  readonly purpose: RequestPurpose;
  readonly model: string;
  readonly request: ModelRequest;
};

/** Keeps the requests of one model call. */
export type RequestReport = {
  /** Keeps a request that the model's client sends. */
  onRequest(sent: SentRequest): void;
  /** Called for each part of an answer: keeps the request itself, once, if the model's client has not reported a form of it. */
  onAnswer(): void;
};

/** Creates the report of one model call. Returns undefined if the store keeps no requests. */
export function createRequestReport(
  { addRequest }: Pick<Io, "addRequest">,
  { purpose, model, request }: ModelCall,
): RequestReport | undefined {
  if (!addRequest) return undefined;
  const { history } = request;
  const media = hasMedia(history) ? history.flatMap(listMedia) : [];
  let isReported = false;
  const add = (sent: SentRequest) =>
    addRequest({ ...sent, purpose, model, ...(media.length > 0 && { media }) });
  return {
    onRequest(sent) {
      isReported = true;
      add(sent);
    },
    onAnswer() {
      if (isReported) return;
      isReported = true;
      add(toSentRequest(request));
    },
  };
}

const joinHistory = createHistoryJoiner((entry) => JSON.stringify(entry));

function toSentRequest({
  instructions,
  history,
  tools,
  examples: _examples,
  ...rest
}: ModelRequest): SentRequest & Pick<NewRequest, "parts"> {
  const head = `${JSON.stringify({ instructions, ...rest, tools }).slice(0, -1)},"history":[`;
  const parts = { head, history: joinHistory(history), tail: "]}" };
  return { url: "", method: "", headers: {}, body: `${head}${parts.history.text}${parts.tail}`, parts };
}

/** Media of the model's own answers are stored as blobs, others in the facts themselves. */
function listMedia(entry: Entry): readonly RequestMedia[] {
  return getParts(entry).flatMap((part) => {
    if (part.type !== "media" && part.type !== "image" && part.type !== "file") return [];
    if (part.data === undefined) return [];
    if (part.type !== "media") return [{ data: part.data }];
    return part.handle === undefined ? [] : [{ handle: part.handle, data: part.data }];
  });
}

function getParts(entry: Entry): readonly (AssistantPart | Part)[] {
  if (entry.type === "assistant") return entry.parts;
  return entry.type === "summary" || typeof entry.content === "string" ? [] : entry.content;
}
