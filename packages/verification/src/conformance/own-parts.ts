import type { OwnParts } from "./random-history.ts";

/** Tags data as a client does: it goes back to its own API and to no other. */
const tag = (wire: string, data: object) => ({ wire, data }) as never;

/** Data of every provider, as its client stores it. A history may contain all of them after the model was switched. */
export const ownParts: OwnParts = [
  { type: "reasoning", text: "Hm.", opaque: tag("anthropic", { signature: "c2lnbmVk" }) },
  { type: "reasoning", text: "", opaque: tag("anthropic", { signature: "c2lsZW50" }) },
  {
    type: "text",
    text: "Rain is likely.",
    opaque: tag("anthropic", {
      citations: [
        {
          type: "web_search_result_location",
          ...{ cited_text: "Rain", encrypted_index: "aQ==", title: "Weather", url: "https://example.com" },
        },
      ],
    }),
  },
  { type: "opaque", data: tag("anthropic", { type: "redacted_thinking", data: "aGlkZGVu" }) },
  {
    type: "opaque",
    data: tag("anthropic", {
      type: "server_tool_use",
      ...{ id: "srvtoolu_1", name: "web_search", input: { query: "rain" } },
    }),
  },
  {
    type: "opaque",
    data: tag("anthropic", {
      type: "web_search_tool_result",
      tool_use_id: "srvtoolu_1",
      content: [
        {
          type: "web_search_result",
          url: "https://example.com",
          title: "Weather",
          encrypted_content: "ZQ==",
        },
      ],
    }),
  },
  {
    type: "reasoning",
    text: "Let me see.",
    opaque: tag("openai-responses", {
      ...{ type: "reasoning", id: "rs_1", encrypted_content: "ZW5j" },
      summary: [{ type: "summary_text", text: "Let me see." }],
    }),
  },
  {
    type: "reasoning",
    text: "",
    opaque: tag("openai-responses", { type: "reasoning", id: "rs_2", summary: [] }),
  },
  {
    type: "text",
    text: "See [1].",
    opaque: tag("openai-responses", {
      id: "msg_1",
      content: [
        {
          ...{ type: "output_text", text: "See [1]." },
          annotations: [
            { type: "url_citation", start_index: 4, end_index: 7, title: "T", url: "https://example.com" },
          ],
        },
      ],
    }),
  },
  { type: "text", text: "Plain.", opaque: tag("openai-responses", { id: "msg_2" }) },
  {
    type: "opaque",
    data: tag("openai-responses", {
      ...{ type: "web_search_call", id: "ws_1", status: "completed" },
      action: { type: "search", query: "rain", queries: ["rain"] },
    }),
  },
  { type: "reasoning", text: "Thought.", opaque: tag("gemini", { thoughtSignature: "c2ln" }) },
  { type: "text", text: "Signed.", opaque: tag("gemini", { thoughtSignature: "c2ln" }) },
  { type: "opaque", data: tag("gemini", { executableCode: { language: "PYTHON", code: "1 + 1" } }) },
  { type: "opaque", data: tag("gemini", { codeExecutionResult: { outcome: "OUTCOME_OK", output: "2" } }) },
  {
    ...{ type: "media", mediaType: "image/webp", handle: "blob_1", size: 8, data: "UklGRgAAAAA=" },
    opaque: tag("openai-responses", {
      ...{ type: "image_generation_call", id: "ig_1", status: "completed", output_format: "webp" },
    }),
  },
  {
    ...{ type: "media", mediaType: "image/png", handle: "blob_2", size: 8, data: "iVBORw0KGgo=" },
    opaque: tag("gemini", { thoughtSignature: "c2ln" }),
  },
  { type: "media", mediaType: "audio/wav", handle: "blob_3", size: 44 },
  {
    type: "reasoning",
    text: "Open thoughts.",
    opaque: tag("openai-compatible", { field: "reasoning_content" }),
  },
];
