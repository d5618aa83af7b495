import type { MarkedOptions, TokenizerExtensionFunction, Tokens } from "marked";

/** Maths in a text: `$x$`, `\(x\)`, `$$x$$` or `\[x\]`. */
export type MathToken = Tokens.Generic & {
  readonly type: "math";
  readonly text: string;
  readonly isBlock: boolean;
};

const maxInline = 500;
const maxBlock = 4000;

// A dollar is a sign of maths only next to the formula, so that "$5 and $10" stay prices.
const inlineRules = [
  new RegExp(`^\\$(?!\\s)([^$\\n\\\\]|\\\\.){1,${maxInline}}(?<!\\s)\\$(?!\\d)`),
  new RegExp(`^\\\\\\((?:(?!\\\\\\))[^\\n]){1,${maxInline}}\\\\\\)`),
];
const blockRules = [
  new RegExp(`^\\$\\$((?:(?!\\$\\$)[\\s\\S]){1,${maxBlock}})\\$\\$`),
  new RegExp(`^\\\\\\[((?:(?!\\\\\\])[\\s\\S]){1,${maxBlock}})\\\\\\]`),
];

const createToken = (raw: string, text: string, isBlock: boolean): MathToken => ({
  ...{ type: "math", raw, text: text.trim(), isBlock },
});

const readMathBlock = (source: string): MathToken | undefined => {
  for (const rule of blockRules) {
    const [raw, text = ""] = rule.exec(source) ?? [];
    if (raw !== undefined && text.trim() !== "" && !/\n\s*\n/.test(text)) return createToken(raw, text, true);
  }
  return undefined;
};

const tokenizeInline: TokenizerExtensionFunction = (source) => {
  const block = readMathBlock(source);
  if (block) return block;
  for (const rule of inlineRules) {
    const raw = rule.exec(source)?.[0];
    const sign = raw?.startsWith("$") ? 1 : 2;
    if (raw !== undefined) return createToken(raw, raw.slice(sign, -sign), false);
  }
  return undefined;
};

/** A formula that is a whole block. */
const tokenizeBlock: TokenizerExtensionFunction = (source) => {
  const token = readMathBlock(source);
  if (!token) return undefined;
  const rest = /^[ \t]*(?:\n|$)/.exec(source.slice(token.raw.length));
  return rest ? { ...token, raw: token.raw + rest[0] } : undefined;
};

function findStart(source: string, signs: readonly string[]): number | undefined {
  const found = signs.map((sign) => source.indexOf(sign)).filter((at) => at >= 0);
  return found.length > 0 ? Math.min(...found) : undefined;
}

/** Extends Marked with maths. */
export const mathSyntax: NonNullable<MarkedOptions["extensions"]> = {
  renderers: {},
  childTokens: {},
  inline: [tokenizeInline],
  startInline: [(source: string) => findStart(source, ["$", "\\(", "\\["])],
  block: [tokenizeBlock],
  startBlock: [(source: string) => findStart(source, ["\n$$", "\n\\["])],
};
