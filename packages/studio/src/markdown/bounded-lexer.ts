import { Lexer, type Links, type Token, Tokenizer, type Tokens } from "marked";
import { mathSyntax } from "./math-syntax.ts";

const maxDepth = 12;
const maxRunLength = 60;
const maxMarks = 1000;

/** Bounds two costs of Marked: quadratic time for long runs of punctuation, and recursion per nesting level. */
class BoundedTokenizer extends Tokenizer {
  #depth = 0;

  #within<T>(read: () => T | undefined): T | undefined {
    if (this.#depth >= maxDepth) return undefined;
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

/** Keeps a paragraph that consists mostly of punctuation as plain text. */
class BoundedLexer extends Lexer {
  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    if (!isMarkSoup(source)) return super.inlineTokens(source, tokens);
    tokens.push({ type: "text", raw: source, text: source });
    return tokens;
  }
}

const runs = new RegExp(`([*_~[\\]\`<!])\\1{${maxRunLength}}`);

function isMarkSoup(source: string): boolean {
  if (source.length < maxRunLength) return false;
  return (
    runs.test(source) || (source.length > maxMarks && (source.match(/[*_~[`<@\\$]/g)?.length ?? 0) > maxMarks)
  );
}

function createLexer(): Lexer {
  return new BoundedLexer({ gfm: true, tokenizer: new BoundedTokenizer(), extensions: mathSyntax });
}

/** Tokenizes the top-level blocks without inline tokens, and collects link definitions. */
export function tokenizeBlocks(text: string): { readonly tokens: readonly Token[]; readonly links: Links } {
  const lexer = createLexer();
  const tokens = lexer.blockTokens(text, []);
  return { tokens, links: lexer.tokens.links };
}

/** Tokenizes one block completely. */
export function tokenizeBlock(source: string, links: Links): readonly Token[] {
  const lexer = createLexer();
  Object.assign(lexer.tokens.links, links);
  return lexer.lex(source);
}
