import { AgentError, defineTool, type Tool, type ToolCall, type ToolReturn } from "capstan";
import { extract } from "./web/extract.ts";
import type { Extracted } from "./web/extract-task.ts";
import type { GuardOptions } from "./web/guard.ts";
import { type GuardedResponse, guardedFetch } from "./web/guarded-client.ts";
import { toCitablePage } from "./web/page-fragments.ts";
import { wrapUntrusted } from "./web/wrap-untrusted.ts";

/** Options of `guardedFetch`, except for the media types. */
export type WebFetchOptions = Omit<GuardOptions, "acceptsMediaType">;

/**
 * The tool `web_fetch {url, extract}`: reads a page, a text or a PDF through the guarded client. The content is marked
 * and labeled as untrusted, and an answer can cite its sections. The effect is `send`, because a URL can leak data to the host that receives it.
 */
export function webFetch(
  options: WebFetchOptions = {},
): Tool<ToolCall<"web_fetch", { url: string; extract?: boolean }>, unknown> {
  const fetchGuarded = guardedFetch(options);
  return defineTool({
    name: "web_fetch",
    description: `Reads a public web page, text, JSON or PDF by its ${options.allowHttp ? "http or https" : "https"} URL.`,
    examples: [
      { phrase: "read {url}" },
      { phrase: "fetch {url}" },
      { phrase: "open {url}" },
      { phrase: "what does {url} say" },
      { phrase: "what is on {url}" },
      { phrase: "summarize {url}" },
      { phrase: "show the source of {url}", input: { extract: false } },
    ],
    input: {
      type: "object",
      properties: {
        url: { type: "string", description: "The whole URL." },
        extract: {
          type: "boolean",
          default: true,
          description: "true: the readable part of a page as Markdown; false: its source.",
        },
      },
      required: ["url"],
      additionalProperties: false,
    },
    effects: "send",
    citable: true,
    idempotent: true,
    reads: options.allowPrivate ? ["untrusted", "private"] : ["untrusted"],
    target: ({ url }) => url,
    async execute({ url, extract: isExtracted = true }, { signal, runId }) {
      const response = await fetchGuarded(url, { signal, run: runId });
      if (response.status < 200 || response.status > 299) throw createStatusError(response);
      const bytes = await response.bytes();
      const extracted = await extract({ ...response, bytes }, { extract: isExtracted, signal });
      return toToolReturn(response, extracted, isExtracted);
    },
  });
}

/** Omits the response body: error messages are not marked as untrusted. */
function createStatusError(response: GuardedResponse): AgentError {
  response.close();
  const { status } = response;
  const isTemporary = status === 408 || status === 429 || status >= 500;
  const advice = isTemporary
    ? "Try again later or use another source."
    : "Check the URL or try another source.";
  return new AgentError("tool_failed", `The server answered ${status}. ${advice}`, {
    retryable: isTemporary,
  });
}

/** Length of the preview shown to the user. The hint is stored, so it does not contain the whole text. */
const previewLength = 4_000;

/** The source of a page, without extraction, has no passages to cite. */
function toToolReturn(
  { url, mediaType }: GuardedResponse,
  extracted: Extracted,
  isCitable: boolean,
): ToolReturn {
  const { title, text } = extracted;
  const page = isCitable ? toCitablePage(extracted, url) : { text, contexts: [] };
  const isComplete = text.length <= previewLength;
  const preview = isComplete ? text : `${text.slice(0, previewLength).toWellFormed()}…`;
  const place = isComplete ? mediaType : `${mediaType}, first part of ${text.length} characters`;
  const source = { title: (title || url).slice(0, 200).toWellFormed(), place, url, text: preview };
  return {
    content: wrapUntrusted(page.text, { URL: url, Type: mediaType, Title: title }),
    ui: { kind: "sources", props: { sources: [source] } },
    ...(page.contexts.length > 0 && { contexts: page.contexts }),
  };
}
