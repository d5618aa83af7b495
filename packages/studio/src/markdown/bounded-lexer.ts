import { Lexer, type Links, type Token, Tokenizer, type Tokens } from "marked";

const deepest = 12;
const longestRun = 60;
const mostMarks = 1000;

/** Marked takes quadratic time for long rows of marks, and recurses once per level of nesting: both are bounded here. */
class BoundedTokenizer extends Tokenizer {
  #depth = 0;

  #within<T>(read: () => T | undefined): T | undefined {
    if (this.#depth >= deepest) return undefined;
    this.#depth += 1;
    try {
      return read();
    } finally {
      this.#depth -= 1;
    }
  }

  override blockquote(source: string): Tokens.Blockquote | undefined {
    return this.#within(() => super.blockquote(source));
  }

  override list(source: string): Tokens.List | undefined {
    return this.#within(() => super.list(source));
  }

  override link(source: string): Tokens.Link | Tokens.Image | undefined {
    return this.#within(() => super.link(source));
  }

  override reflink(source: string, links: Links): ReturnType<Tokenizer["reflink"]> {
    return this.#within(() => super.reflink(source, links));
  }

  override emStrong(source: string, masked: string, before?: string): Tokens.Em | Tokens.Strong | undefined {
    return this.#within(() => super.emStrong(source, masked, before));
  }

  override del(source: string, masked: string, before?: string): Tokens.Del | undefined {
    return this.#within(() => super.del(source, masked, before));
  }
}

/** Leaves a paragraph that is nothing but marks as the text it is. */
class BoundedLexer extends Lexer {
  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    if (!isMarkSoup(source)) return super.inlineTokens(source, tokens);
    tokens.push({ type: "text", raw: source, text: source });
    return tokens;
  }
}

const runs = new RegExp(`([*_~[\\]\`<!])\\1{${longestRun}}`);

function isMarkSoup(source: string): boolean {
  if (source.length < longestRun) return false;
  return (
    runs.test(source) ||
    (source.length > mostMarks && (source.match(/[*_~[`<@\\]/g)?.length ?? 0) > mostMarks)
  );
}

function lexer(): Lexer {
  return new BoundedLexer({ gfm: true, tokenizer: new BoundedTokenizer() });
}

/** The top-level blocks of a text, their words not looked into, and the definitions of links among them. */
export function lexBlocks(text: string): { readonly tokens: readonly Token[]; readonly links: Links } {
  const reader = lexer();
  const tokens = reader.blockTokens(text, []);
  return { tokens, links: reader.tokens.links };
}

/** One block in full. */
export function lexBlock(source: string, links: Links): readonly Token[] {
  const reader = lexer();
  Object.assign(reader.tokens.links, links);
  return reader.lex(source);
}
