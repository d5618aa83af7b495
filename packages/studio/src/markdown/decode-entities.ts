// Common entity names. Others stay as typed.
const names: { readonly [name: string]: string } = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  copy: "©",
  reg: "®",
  trade: "™",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  larr: "←",
  rarr: "→",
  uarr: "↑",
  darr: "↓",
  times: "×",
  divide: "÷",
  minus: "−",
  plusmn: "±",
  le: "≤",
  ge: "≥",
  ne: "≠",
  deg: "°",
  middot: "·",
  bull: "•",
  euro: "€",
  pound: "£",
  laquo: "«",
  raquo: "»",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
};

/** Decodes HTML entities. React escapes the text again when it renders. */
export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]{2,8});/gi, decodeEntity);
}

function decodeEntity(entity: string): string {
  const name = entity.slice(1, -1);
  if (!name.startsWith("#")) return Object.hasOwn(names, name) ? (names[name] ?? entity) : entity;
  const point = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  const isCharacter = point > 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
  return isCharacter ? String.fromCodePoint(point) : "\ufffd";
}
