import { suggestName } from "capstan";

// The basic colours of CSS, and the ones people name most beside them.
const words: { readonly [word: string]: string } = {
  black: "#000000",
  silver: "#c0c0c0",
  gray: "#808080",
  grey: "#808080",
  white: "#ffffff",
  maroon: "#800000",
  red: "#ff0000",
  purple: "#800080",
  violet: "#ee82ee",
  magenta: "#ff00ff",
  green: "#008000",
  lime: "#00ff00",
  olive: "#808000",
  yellow: "#ffff00",
  navy: "#000080",
  blue: "#0000ff",
  teal: "#008080",
  cyan: "#00ffff",
  turquoise: "#40e0d0",
  orange: "#ffa500",
  pink: "#ffc0cb",
  brown: "#a52a2a",
  beige: "#f5f5dc",
  gold: "#ffd700",
  coral: "#ff7f50",
  salmon: "#fa8072",
  crimson: "#dc143c",
  indigo: "#4b0082",
  lavender: "#e6e6fa",
  khaki: "#f0e68c",
  lightblue: "#add8e6",
  lightgreen: "#90ee90",
  lightgray: "#d3d3d3",
  lightgrey: "#d3d3d3",
  darkblue: "#00008b",
  darkgreen: "#006400",
  darkred: "#8b0000",
  darkgray: "#a9a9a9",
  darkgrey: "#a9a9a9",
};

/** A colour as `#rrggbb`, from a word such as "blue" or "light blue", or from `#rgb` or `#rrggbb`; or why not. */
export function hexColour(said: string): { readonly hex: string } | { readonly problem: string } {
  const plain = said.trim().toLowerCase();
  if (/^#[0-9a-f]{6}$/u.test(plain)) return { hex: plain };
  if (/^#[0-9a-f]{3}$/u.test(plain)) return { hex: plain.replace(/[0-9a-f]/gu, "$&$&") };
  const word = plain.replace(/[\s_-]+/gu, "");
  const hex = Object.hasOwn(words, word) ? words[word] : undefined;
  if (hex) return { hex };
  const hint = suggestName(word, Object.keys(words));
  return {
    problem: `"${said}" is no colour that is known here.${hint} Hex values such as #0000ff always work.`,
  };
}

/** As it was said; a hex value with the word for it, where there is one: "red (#ff0000)". */
export function colourInWords(said: string): string {
  const found = hexColour(said);
  if (!said.trim().startsWith("#") || "problem" in found) return said;
  const [word] = Object.entries(words).find(([, hex]) => hex === found.hex) ?? [];
  return word === undefined ? said : `${word} (${found.hex})`;
}
