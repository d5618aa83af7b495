import { AgentError, defineTool, type Tool, type ToolReturn } from "capstan";
import { extract } from "./web/extract.ts";
import type { Extracted } from "./web/extract-task.ts";
import { fenced } from "./web/fence.ts";
import type { GuardOptions } from "./web/guard.ts";
import { type GuardedResponse, guardedFetch } from "./web/guarded-client.ts";

/** What may be fetched; see `guardedFetch`. */
export type WebFetchOptions = Omit<GuardOptions, "acceptsMediaType">;

/**
 * The tool `web_fetch {url, extract}`: reads a page, a text or a PDF through the guarded client. What it brings is
 * fenced and labelled untrusted; it counts as sending, because a URL can carry what the model knows to whoever owns it.
 */
export function webFetch(options: WebFetchOptions = {}): Tool {
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
    idempotent: true,
    reads: options.allowPrivate ? ["untrusted", "private"] : ["untrusted"],
    target: ({ url }) => url,
    async execute({ url, extract: isExtracted = true }, { signal, runId }) {
      const response = await fetchGuarded(url, { signal, run: runId });
      if (response.status < 200 || response.status > 299) throw notAnswered(response);
      const bytes = await response.bytes();
      return returned(response, await extract({ ...response, bytes }, { extract: isExtracted, signal }));
    },
  });
}

/** The words of the answer stay out: an error is not fenced. */
function notAnswered(response: GuardedResponse): AgentError {
  response.close();
  const { status } = response;
  const mayPass = status === 408 || status === 429 || status >= 500;
  const advice = mayPass ? "Try later or another source." : "Check the URL or try another source.";
  return new AgentError("tool_failed", `The server answered ${status}. ${advice}`, { retryable: mayPass });
}

/** People see where it comes from and how it begins; the hint is stored, and the whole of it would be too much. */
const shownCharacters = 4_000;

function returned({ url, mediaType }: GuardedResponse, { title, text }: Extracted): ToolReturn {
  const isWhole = text.length <= shownCharacters;
  const shown = isWhole ? text : `${text.slice(0, shownCharacters).toWellFormed()}…`;
  const place = isWhole ? mediaType : `${mediaType}, the beginning of ${text.length} characters`;
  const source = { title: (title || url).slice(0, 200).toWellFormed(), place, url, text: shown };
  return {
    content: fenced(text, { URL: url, Type: mediaType, Title: title }),
    ui: { kind: "sources", props: { sources: [source] } },
  };
}
