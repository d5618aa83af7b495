// Gemini's `generateContent`. The body is the same for all of these; the model is part of the address:
//   https://generativelanguage.googleapis.com/v1beta/models/{model}:streamGenerateContent?alt=sse
//     with the header x-goog-api-key
//   https://{location}-aiplatform.googleapis.com/v1/projects/{project}/locations/{location}/publishers/google/models/{model}:streamGenerateContent?alt=sse
//     with a Bearer token (Vertex; for the location "global" the host is aiplatform.googleapis.com)
// and `:generateContent`, without `alt`, for an answer in one piece.
//
// A conversation is `contents` of the roles `user` and `model`, each a list of `parts`. The results of a turn are
// `functionResponse` parts, all in one `user` content directly after the calls and alone in it. The stream is one
// JSON answer per event with the next parts; there is no `[DONE]`: the answer with a `finishReason` is the end, though
// later ones may bring the final counts. A `thoughtSignature` stays on its part; on text it may come in an empty
// part of its own at the end, and then belongs to the text before it, as it does in an answer that comes whole.
import type { Entry } from "../history.ts";
import { isRecord } from "../json.ts";
import type { ModelRequest, ToolSpec } from "../model.ts";
import { isGeminiOverflow } from "./gemini-content/failure.ts";
import { geminiToolNames } from "./gemini-content/names.ts";
import { type Written, writtenAt } from "./gemini-content/parts.ts";
import { fromGeminiJson, geminiReader } from "./gemini-content/reader.ts";
import { toGeminiParameters, toGeminiSchema } from "./gemini-content/tool-schema.ts";
import type { Wire, WireSettings } from "./wire.ts";

export const geminiContent: Wire = {
  name: "gemini",
  toRequest,
  reader: geminiReader,
  fromJson: fromGeminiJson,
  isOverflow: isGeminiOverflow,
};

function toRequest(request: ModelRequest, settings: WireSettings): string {
  const { instructions, history, tools, toolChoice } = request;
  const { contents: _, generationConfig, toolConfig, tools: moreTools, ...extra } = settings.extra ?? {};
  let body = `{"contents":[${contentsOf(history, needsSignature(settings.model))}]`;
  const add = (name: string, text: string) => {
    body += `,${JSON.stringify(name)}:${text}`;
  };
  if (instructions && !("systemInstruction" in extra))
    add("systemInstruction", JSON.stringify({ parts: [{ text: instructions }] }));
  const offered = Array.isArray(moreTools) ? moreTools.map((tool) => JSON.stringify(tool)) : [];
  if (tools.length > 0) offered.unshift(`{"functionDeclarations":[${tools.map(declarationOf).join(",")}]}`);
  if (offered.length > 0) add("tools", `[${offered.join(",")}]`);
  const choice = tools.length > 0 ? { functionCallingConfig: { mode: modes[toolChoice] } } : {};
  for (const [name, own, given] of [
    ["toolConfig", choice, toolConfig],
    ["generationConfig", configOf(request, settings), generationConfig],
  ] as const) {
    const joined = merged(own, given);
    if (Object.keys(joined).length > 0) add(name, JSON.stringify(joined));
  }
  for (const [name, value] of Object.entries(extra)) add(name, JSON.stringify(value));
  return `${body}}`;
}

/** From the third generation on, a call without a signature is refused in the turn that is going on. */
function needsSignature(model: string): boolean {
  return /gemini-(?:[3-9]|\d\d|(?:pro|flash|flash-lite)-latest)/.test(model);
}

const modes = { auto: "AUTO", required: "ANY", none: "NONE" } as const;

function configOf({ output, tools, thinking }: ModelRequest, settings: WireSettings) {
  const { model, temperature, maxOutputTokens } = settings;
  return {
    ...(temperature !== undefined && { temperature }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    // Most models refuse a form of the answer beside functions.
    ...(output &&
      tools.length === 0 && {
        responseMimeType: "application/json",
        responseJsonSchema: toGeminiSchema(output),
      }),
    ...(thinking && !/gemini-(?:1|2\.0)|gemma/.test(model) && { thinkingConfig: { includeThoughts: true } }),
  };
}

/** What the user gave wins, field by field. */
function merged(own: Record<string, unknown>, given: unknown): Record<string, unknown> {
  if (!isRecord(given)) return own;
  const joined: Record<string, unknown> = { ...own };
  for (const [name, value] of Object.entries(given)) {
    const before = own[name];
    joined[name] = isRecord(before) && isRecord(value) ? { ...before, ...value } : value;
  }
  return joined;
}

const declarations = new WeakMap<ToolSpec, string>();

function declarationOf(tool: ToolSpec): string {
  let text = declarations.get(tool);
  if (text === undefined) {
    const { name, description, input } = tool;
    text = JSON.stringify({
      name: geminiToolNames.offered(name),
      description,
      parametersJsonSchema: toGeminiParameters(input),
    });
    declarations.set(tool, text);
  }
  return text;
}

/**
 * Neighbours of one role are one content, since a turn with calls must follow a turn of the user; only results stay
 * among themselves. Text is added to text, which does not copy it: the whole is laid out once, when it is sent.
 */
function contentsOf(history: readonly Entry[], signs: boolean): string {
  let contents = "";
  let role: Written["role"] | undefined;
  let attached = "";
  const add = (next: Written["role"], parts: string) => {
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
    const written = writtenAt(history, index, signs);
    if (written.parts === "") continue;
    if (written.role !== "results") attach();
    if (role === undefined && written.role === "model") add("user", '{"text":"…"}');
    add(written.role, written.parts);
    if (written.attached) attached += attached ? `,${written.attached}` : written.attached;
  }
  attach();
  return role === undefined ? "" : `${contents}]}`;
}
