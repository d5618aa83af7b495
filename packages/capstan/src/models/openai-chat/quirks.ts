import type { Json } from "../../base/json.ts";
import type { ServerSupport } from "../../kernel/settings/servers.ts";
import type { SpecialTokens } from "../special-tokens.ts";

/**
 * How a server differs from OpenAI. The defaults suit most compatible servers: streams are parsed leniently, and only
 * widely supported fields are sent.
 */
export type ChatQuirks = ServerSupport & {
  /** True for OpenAI itself, whose models reject the fields that their family does not support. */
  readonly isOpenAi?: boolean;
  /** Tags opaque data: reasoning is sent back only to a wire of the same name. Default: `openai-compatible`. */
  readonly name?: string;
  /** A complete stream needs `[DONE]`. Default: a finish reason is enough. */
  readonly needsDone?: boolean;
  /** A complete stream needs a finish reason. Default: `[DONE]` after text or complete calls is enough. */
  readonly needsFinish?: boolean;
  /** All events of a stream have the same id. Default: some servers change it, so only an obvious restart is one. */
  readonly stableIds?: boolean;
  /** Default: `max_tokens`. */
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens";
  /** Default: `system`. */
  readonly systemRole?: "system" | "developer";
  /** False if the server rejects `stream_options`. */
  readonly usageOption?: boolean;
  /** False if reasoning must not be sent back. Default: sent back in the field it arrived in. */
  readonly replayReasoning?: boolean;
  /** How an output schema is requested. Default: `json_schema`. The instructions describe it in any case. */
  readonly output?: "json_schema" | "json_object" | "none";
  /** True if an output schema can be combined with tools. Default: omitted when there are tools. */
  readonly outputBesideTools?: boolean;
  /** Value of `tool_choice` when a call is required. Default: `required`. */
  readonly required?: Json;
  /** `alone`: the server accepts no tool by name, so that tool is sent alone and a call is required. */
  readonly namedChoice?: "sent" | "alone";
  /** `nine`: call ids must have nine letters or digits (Mistral). */
  readonly callIds?: "any" | "nine";
  /** `text`: invalid JSON arguments are sent back unchanged. Default: wrapped in an object, because chat templates parse them. */
  readonly brokenArguments?: "text" | "wrapped";
  /** False if only text is accepted; omitted media are mentioned as text. */
  readonly images?: boolean;
  readonly files?: boolean;
  /** False if a user message must not follow results (Mistral), in which the media of results are sent. */
  readonly resultMedia?: boolean;
  /** True if the server takes videos as `video_url`. */
  readonly videos?: boolean;
  /** `kept` if the server reads names of control tokens as text (OpenAI). Default: `broken`. */
  readonly specialTokens?: SpecialTokens;
  /** Fields that requests to some models need. */
  readonly modelFields?: readonly {
    readonly models: RegExp;
    readonly fields: { readonly [field: string]: Json };
  }[];
  /** Default: `seed`. */
  readonly seedField?: "seed" | "random_seed";
};
