import type { Style } from "./style.ts";

const tokenPattern =
  /\\([\\`*_{}[\]()#+\-.!~|<>])|(`+)([^`]|[^`][\s\S]*?[^`])\2(?!`)|\*\*(?=\S)([\s\S]*?\S)\*\*(?!\*)|__(?=\S)([\s\S]*?\S)__(?![\p{L}\p{N}])|\*(?=[^\s*])([\s\S]*?[^\s*])\*(?!\*)|(?<![\p{L}\p{N}])_(?=[^\s_])([\s\S]*?[^\s_])_(?![\p{L}\p{N}])|~~(?=\S)([\s\S]*?\S)~~|!?\[((?:[^[\]]|\[[^[\]]*\])*)\]\(\s*<?([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s+["'][^"']*["'])?\s*\)|<(https?:\/\/[^\s<>]+)>/u;

const maxDepth = 6;
// Longer text is shown unstyled: unclosed marks would make matching slow.
const maxLength = 8000;

/** Styles emphasis, code and links; a link shows its URL. */
export function styleInline(text: string, style: Style, depth = 0): string {
  if (text.length > maxLength) return text;
  let out = "";
  let rest = text;
  while (rest !== "") {
    const found = depth < maxDepth ? tokenPattern.exec(rest) : null;
    if (!found) return out + rest;
    out += rest.slice(0, found.index) + styleToken(found, style, depth + 1);
    rest = rest.slice(found.index + found[0].length);
  }
  return out;
}

function styleToken(found: RegExpExecArray, style: Style, depth: number): string {
  const [, escaped, , code, bold, bold2, em, em2, struck, label, url, address] = found;
  const inner = (words: string) => styleInline(words, style, depth);
  if (escaped !== undefined) return escaped;
  if (code !== undefined) return style.cyan(code.replace(/^ (.*\S.*) $/, "$1"));
  if (bold !== undefined || bold2 !== undefined) return style.bold(inner(bold ?? bold2 ?? ""));
  if (em !== undefined || em2 !== undefined) return style.italic(inner(em ?? em2 ?? ""));
  if (struck !== undefined) return style.strikethrough(inner(struck));
  if (address !== undefined) return style.underline(address);
  if (label === url || label === "") return style.underline(url ?? "");
  return `${style.underline(inner(label ?? ""))} ${style.dim(`(${url})`)}`;
}

/** Closes the open marks of a partial text, so that they do not flicker while it streams. */
export function closeOpenMarks(text: string): string {
  if (text.length > maxLength) return text;
  let open = text;
  const isInCode = (text.match(/`/g)?.length ?? 0) % 2 === 1;
  if (isInCode) return `${open}\``;
  // A link without its URL yet is shown as its label.
  open = open.replace(/\[([^[\]]*)\]\([^()\s]*$/, "$1").replace(/!?\[([^[\]]*)$/, "$1");
  open = open.replace(/(?<=^|\s)[*_~]{1,2}$/, "");
  const bare = open.replace(/`[^`]*`/g, "");
  if ((bare.match(/\*\*/g)?.length ?? 0) % 2 === 1)
    return /\*\*$/.test(open) ? open.slice(0, -2) : `${open.replace(/\*$/, "")}**`;
  if ((bare.replace(/\*\*/g, "").match(/(?<=^|\s)\*(?=\S)|(?<=\S)\*/g)?.length ?? 0) % 2 === 1)
    return `${open}*`;
  return open;
}
