/*
 * Anthropic's Messages API, version 2023-06-01. The body: `system` (blocks), `tools`, and `messages`, in which user and
 * assistant alternate; an assistant's `tool_use` blocks are answered by `tool_result` blocks at the start of the next
 * user message. The stream: `message_start`, then per block `content_block_start`, `content_block_delta`s and
 * `content_block_stop`, then `message_delta` (stop reason, usage so far) and `message_stop`; `ping` and `error` at
 * any time. Thinking is sent back only with its signature; unknown blocks are sent back unchanged.
 */

import { anthropicName, toAnthropicMedia } from "./anthropic-messages/content.ts";
import { isAnthropicOverflow } from "./anthropic-messages/failure.ts";
import { createAnthropicReader, parseAnthropicAnswer } from "./anthropic-messages/reader.ts";
import { buildAnthropicRequest, buildBetaHeaders, type CloudFields } from "./anthropic-messages/request.ts";
import type { Wire } from "./wire.ts";
import { withoutFiles } from "./without-files.ts";

/**
 * `extra` is copied into the body with these exceptions: its `tools` are added to the request's and replace tools of the
 * same name (server tools, `allowed_callers`), its `output_config` is merged, its `system` and `messages` are ignored,
 * and its `cache_control` replaces all cache points set here. Its `thinking` replaces the one that the effort asks for;
 * either is omitted from requests that would be rejected because of it.
 */
export const anthropicMessages: Wire = {
  name: anthropicName,
  toRequest: buildAnthropicRequest,
  reader: createAnthropicReader,
  fromJson: parseAnthropicAnswer,
  isOverflow: isAnthropicOverflow,
  buildHeaders: buildBetaHeaders,
  acceptsMedia: (part) => toAnthropicMedia(part) !== undefined,
};

/** Anthropic's API in a cloud: the URL names the model, and `fields` has the version and whatever else differs. */
export function createCloudMessages(fields: CloudFields): Wire {
  // Each cloud has its own tiers, outside the body.
  const cloudFields = { model: undefined, service_tier: undefined, ...fields };
  return withoutFiles({
    ...anthropicMessages,
    toRequest: (request, settings) => buildAnthropicRequest(request, settings, cloudFields),
    buildHeaders: ({ hosted = [] }, model, body) => buildBetaHeaders({ hosted, history: [] }, model, body),
  });
}
