/*
 * A server with a model of its own writes a conversation into a template and reads the result as tokens. Many take the
 * name of a control token for that token wherever it stands, so that a page could begin a turn of the system. These
 * names are in the templates of current open models:
 *
 *   <|im_start|> <|eot_id|> <｜User｜>      ChatML, Llama, gpt-oss, Phi, GLM, Granite, Kimi, Command, DeepSeek
 *   <|turn> <turn|> <start_of_turn>        Gemma
 *   [INST] [TOOL_RESULTS] <<SYS>>          Mistral, Llama 2
 *   <s> </s> <bos> <eos> <pad> <unk>       the ends of a text
 *   <tool_call> <tool_response>            Hermes, Qwen, GLM
 *   ]~b] [e~[                              MiniMax
 *
 * Roles in plain words ("### System:", "Human:") are not among them: they are text to every tokenizer.
 */

/** Seen by no reader, and by every tokenizer: what it stands in is no name. */
const breaker = "\u200c";

/** How names go on after their first character. A name in bars may be any word. */
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
const longestName = 70;

/** Only the first character is taken, so that a name within another is found, too. */
const beginning = new RegExp(
  `<(?=${afterAngle.join("|")})|\\[(?=${afterSquare.join("|")})|\\](?=${afterClosing})`,
  "g",
);

/** What becomes of the names of control tokens in what is sent. */
export type SpecialTokens = "broken" | "kept";

/** The text with an invisible character in every name of a control token, which makes it a text like any other. */
export function withoutTokens(text: string): string {
  return text.replace(beginning, `$&${breaker}`);
}

/** The same for texts that a template may join: a name may begin in one of them and end in another. */
export function textsWithoutTokens(texts: readonly string[]): readonly string[] {
  let before = "";
  return texts.map((text) => {
    const broken = withoutTokens(text);
    const border = before.slice(-longestName) + broken.slice(0, longestName);
    const shown = withoutTokens(border) === border ? broken : breaker + broken;
    before += shown;
    return shown;
  });
}
