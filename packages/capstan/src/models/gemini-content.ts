// Gemini's `generateContent`. All endpoints take the same body; the model is part of the URL:
//   https://generativelanguage.googleapis.com/v1beta/models/{model}:streamGenerateContent?alt=sse
//     with the header x-goog-api-key
//   https://{location}-aiplatform.googleapis.com/v1/projects/{project}/locations/{location}/publishers/google/models/{model}:streamGenerateContent?alt=sse
//     with a Bearer token (Vertex; for the location "global" the host is aiplatform.googleapis.com)
// and `:generateContent`, without `alt`, for a non-streamed response.
//
// A conversation is a list of `contents` with the role `user` or `model`, each with `parts`. The results of a turn are
// `functionResponse` parts in a separate `user` content directly after the calls. Each stream event is a JSON
// response with the next parts. There is no `[DONE]`: the response with a `finishReason` is the end, though later events
// may carry final token counts. A `thoughtSignature` stays on its part; for text it may arrive in a trailing empty
// part, and then belongs to the preceding text.

import { isRecord } from "../base/json.ts";
import type { Entry } from "../kernel/history.ts";
import type { ModelRequest, ToolSpec } from "../kernel/model.ts";
import { getGeminiTraits } from "../kernel/settings/gemini-models.ts";
import type { ToolChoice } from "../kernel/settings/settings.ts";
import { withDistinctCallIds } from "./distinct-call-ids.ts";
import { isGeminiOverflow } from "./gemini-content/failure.ts";
import { toHostedDefinition } from "./gemini-content/hosted.ts";
import { geminiToolNames } from "./gemini-content/names.ts";
import { type SerializedEntry, serializeEntryAt, toGeminiMedia } from "./gemini-content/parts.ts";
import { createGeminiReader, fromGeminiJson } from "./gemini-content/reader.ts";
import { buildGenerationConfig, buildServiceTier } from "./gemini-content/settings.ts";
import { toGeminiParameters } from "./gemini-content/tool-schema.ts";
import { toList, type Wire, type WireSettings } from "./wire.ts";

export const geminiContent: Wire = {
  name: "gemini",
  toRequest,
  reader: createGeminiReader,
  fromJson: fromGeminiJson,
  isOverflow: isGeminiOverflow,
  acceptsMedia: (part) => toGeminiMedia(part) !== undefined,
};

function toRequest(request: ModelRequest, settings: WireSettings): string {
  const { instructions, history, tools, toolChoice } = request;
  const { contents: _, generationConfig, toolConfig, tools: moreTools, ...extra } = settings.extra ?? {};
  let body = `{"contents":[${serializeContents(withDistinctCallIds(history), settings.model)}]`;
  const add = (name: string, text: string) => {
    body += `,${JSON.stringify(name)}:${text}`;
  };
  if (instructions && !("systemInstruction" in extra))
    add("systemInstruction", JSON.stringify({ parts: [{ text: instructions }] }));
  const hosted = request.hosted?.map(toHostedDefinition) ?? [];
  const toolTexts = [...hosted, ...toList(moreTools)].map((tool) => JSON.stringify(tool));
  if (tools.length > 0)
    toolTexts.unshift(`{"functionDeclarations":[${tools.map(serializeDeclaration).join(",")}]}`);
  if (toolTexts.length > 0) add("tools", `[${toolTexts.join(",")}]`);
  const choice = {
    ...(tools.length > 0 && { functionCallingConfig: toCallingConfig(toolChoice) }),
    // Required to combine both kinds of tools: the provider's own calls are sent back in later turns.
    ...(tools.length > 0 && hosted.length > 0 && { includeServerSideToolInvocations: true }),
  };
  for (const [name, fields, extraFields] of [
    ["toolConfig", choice, toolConfig],
    ["generationConfig", buildGenerationConfig(request, settings), generationConfig],
  ] as const) {
    const joined = mergeFields(fields, extraFields);
    if (Object.keys(joined).length > 0) add(name, JSON.stringify(joined));
  }
  for (const [name, value] of Object.entries({ ...buildServiceTier(settings.serviceTier), ...extra }))
    add(name, JSON.stringify(value));
  return `${body}}`;
}

/** Gemini 3 and later reject a call without a signature in the current turn. */
function needsSignature(model: string): boolean {
  return /gemini-(?:[3-9]|\d\d|(?:pro|flash|flash-lite)-latest)/.test(model);
}

const modes = { auto: "AUTO", required: "ANY", none: "NONE" } as const;

function toCallingConfig(choice: ToolChoice): object {
  if (typeof choice === "string") return { mode: modes[choice] };
  return { mode: "ANY", allowedFunctionNames: [geminiToolNames.encodeName(choice.tool)] };
}

/** Merges field by field; values from `extra` win. */
function mergeFields(fields: Record<string, unknown>, extraFields: unknown): Record<string, unknown> {
  if (!isRecord(extraFields)) return fields;
  const joined: Record<string, unknown> = { ...fields };
  for (const [name, value] of Object.entries(extraFields)) {
    const known = fields[name];
    joined[name] = isRecord(known) && isRecord(value) ? { ...known, ...value } : value;
  }
  return joined;
}

const declarations = new WeakMap<ToolSpec, string>();

function serializeDeclaration(tool: ToolSpec): string {
  let text = declarations.get(tool);
  if (text === undefined) {
    const { name, description, input } = tool;
    text = JSON.stringify({
      name: geminiToolNames.registerName(name),
      description,
      parametersJsonSchema: toGeminiParameters(input),
    });
    declarations.set(tool, text);
  }
  return text;
}

/**
 * Merges adjacent entries of one role, because a turn with calls must follow a user turn; results stay separate.
 * Builds the text by concatenation, which engines defer until the text is sent.
 */
function serializeContents(history: readonly Entry[], model: string): string {
  const needsSignatures = needsSignature(model);
  let contents = "";
  let role: SerializedEntry["role"] | undefined;
  let attached = "";
  const add = (next: SerializedEntry["role"], parts: string) => {
    if (next === role) contents += `,${parts}`;
    else {
      if (role !== undefined) contents += "]},";
      contents += `{"role":"${next === "model" ? "model" : "user"}","parts":[${parts}`;
    }
    role = next;
  };
  const attach = () => {
    if (attached) add("user", attached);
    attached = "";
  };
  for (let index = 0; index < history.length; index += 1) {
    const written = serializeEntryAt(history, index, needsSignatures);
    if (written.parts === "") continue;
    if (written.role !== "results") attach();
    if (role === undefined && written.role === "model") add("user", '{"text":"…"}');
    add(written.role, written.parts);
    if (written.attachments) attached += attached ? `,${written.attachments}` : written.attachments;
  }
  attach();
  if (role === "model" && getGeminiTraits(model).isStrict) add("user", '{"text":"Continue."}');
  return role === undefined ? "" : `${contents}]}`;
}
