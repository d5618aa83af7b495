/*
 * The Messages API of Anthropic, version 2023-06-01. The body: `system` (blocks), `tools`, and `messages`, in which
 * user and assistant alternate; an assistant's `tool_use` blocks are answered by `tool_result` blocks at the start of
 * the next user message. The stream: `message_start`, then per block `content_block_start`, `content_block_delta`s and
 * `content_block_stop`, then `message_delta` (why it stopped, usage so far) and `message_stop`; `ping` and `error` at
 * any time. Thinking goes back with its signature or not at all; blocks unknown here go back as they came.
 */

import { saysOverflow } from "./anthropic-messages/failure.ts";
import { anthropicName } from "./anthropic-messages/names.ts";
import { anthropicAnswer, anthropicReader } from "./anthropic-messages/reader.ts";
import { anthropicRequest } from "./anthropic-messages/request.ts";
import type { Wire } from "./wire.ts";

/**
 * `extra` goes into the body as it is, with these exceptions: its `tools` stand beside the request's and replace those
 * of the same name (server tools, `allowed_callers`), its `output_config` is merged, `system` and `messages` are the
 * request's alone, and a `cache_control` of its own takes the place of all cache points set here. `thinking` is only
 * set there, because no value of it suits every current model; it is left out of a request that would be refused for it.
 */
export const anthropicMessages: Wire = {
  name: anthropicName,
  toRequest: anthropicRequest,
  reader: anthropicReader,
  fromJson: anthropicAnswer,
  isOverflow: saysOverflow,
};
