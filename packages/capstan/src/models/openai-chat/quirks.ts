import type { Json } from "../../json.ts";
import type { SpecialTokens } from "../special-tokens.ts";

type Fields = { readonly [field: string]: Json };

/**
 * How a server differs from OpenAI's own, as data. Nothing set is right for most compatible servers: their streams are
 * read leniently, and only fields that all of them take are sent.
 */
export type ChatQuirks = {
  /** Whose data is whose: reasoning goes back only to a wire of the same name. By default `openai-compatible`. */
  readonly name?: string;
  /** `[DONE]` is part of a whole stream. By default a finish reason is enough. */
  readonly needsDone?: boolean;
  /** A finish reason is part of a whole stream. By default `[DONE]` after text or whole calls is enough. */
  readonly needsFinish?: boolean;
  /** By default `max_tokens`. */
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens";
  /** By default `system`. */
  readonly systemRole?: "system" | "developer";
  /** False where `stream_options` is refused. */
  readonly usageOption?: boolean;
  /** False where reasoning may not be sent back. By default it is, in the field in which this server gave it. */
  readonly replayReasoning?: boolean;
  /** How a form for the answer is asked for. By default `json_schema`; the instructions say it in any case. */
  readonly output?: "json_schema" | "json_object" | "none";
  /** True where a form for the answer may be asked for beside tools. By default it is left out then. */
  readonly outputBesideTools?: boolean;
  /** What `tool_choice` is when a call is required. By default `required`. */
  readonly required?: Json;
  /** `nine`: ids of calls must have nine letters and digits (Mistral). */
  readonly callIds?: "any" | "nine";
  /** `text`: arguments that were no JSON go back as they were. By default wrapped, as chat templates parse them. */
  readonly brokenArguments?: "text" | "wrapped";
  /** False where only text is taken; what is left out is named. */
  readonly images?: boolean;
  readonly files?: boolean;
  /** `kept` where names of control tokens in texts are text (OpenAI). By default they are broken, to be read as such. */
  readonly specialTokens?: SpecialTokens;
  /** Fields for the body when thinking is wanted and when not. */
  readonly thinking?: { readonly on?: Fields; readonly off?: Fields };
};
