/*
 * A server that hosts a model renders the conversation with a chat template and tokenizes the result. Many servers
 * parse the name of a control token anywhere in the text, so that a web page could start a system turn. The templates
 * of current open models contain these names:
 *
 *   <|im_start|> <|eot_id|> <｜User｜>      ChatML, Llama, gpt-oss, Phi, GLM, Granite, Kimi, Command, DeepSeek
 *   <|turn> <turn|> <start_of_turn>        Gemma
 *   [INST] [TOOL_RESULTS] <<SYS>>          Mistral, Llama 2
 *   <s> </s> <bos> <eos> <pad> <unk>       text boundaries
 *   <tool_call> <tool_response>            Hermes, Qwen, GLM
 *   ]~b] [e~[                              MiniMax
 *
 * Plain-text roles ("### System:", "Human:") are not included: every tokenizer reads them as text.
 */

/** Zero-width non-joiner: invisible to readers, but no tokenizer recognizes a token name that contains it. */
const separator = "\u200c";

/** Patterns for names after their first character. A name between bars can be any word. */
const afterAngle: readonly string[] = [
  "[|｜][^\\s|｜<>\\u200c]{1,64}[|｜]?>",
  "[^\\s|｜<>\\u200c]{1,64}[|｜]>",
  "(?:start|end)_(?:of_[a-z]{1,16}|function_[a-z]{1,16})>",
  "/?(?:s|bos|eos|pad|unk|sop|eop)>",
  "/?(?:[a-z]{1,16}:)?tool_(?:call|response|result|output)s?>",
  "[A-Z_]{1,64}_TOKEN>",
  "(?:unused|reserved_|extra_id_)\\d{1,6}>",
  "</?SYS>>",
];
const afterSquare: readonly string[] = [
  "/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|ARGS|CALL_ID|THINK)\\]",
  "/?(?:IMG|IMG_BREAK|IMG_END|PREFIX|MIDDLE|SUFFIX|gMASK|BOS|EOS|EOT)\\]",
  "e~\\[",
];
const afterClosing = "~!?b[[\\]]";
const maxTokenLength = 70;

/** Matches the first character only, so that nested names are found too. */
const tokenStart = new RegExp(
  `<(?=${afterAngle.join("|")})|\\[(?=${afterSquare.join("|")})|\\](?=${afterClosing})`,
  "g",
);

/** Whether names of control tokens are broken up or sent unchanged. */
export type SpecialTokens = "broken" | "kept";

/** Inserts an invisible character into every name of a control token, so that it is read as text. */
export function breakTokens(text: string): string {
  return text.replace(tokenStart, `$&${separator}`);
}

/** Same for texts that a template may concatenate: a name can span two of them. */
export function breakTokensAcross(texts: readonly string[]): readonly string[] {
  let before = "";
  return texts.map((text) => {
    const broken = breakTokens(text);
    const border = before.slice(-maxTokenLength) + broken.slice(0, maxTokenLength);
    const shown = breakTokens(border) === border ? broken : separator + broken;
    before += shown;
    return shown;
  });
}
