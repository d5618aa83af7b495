import { suggestName } from "capstan";

// The basic CSS colors, and other common ones.
const colorNames: { readonly [word: string]: string } = {
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

/** Parses a name such as "light blue", `#rgb` or `#rrggbb` to `#rrggbb`. Returns a problem for an unknown color. */
export function parseColor(color: string): { readonly hex: string } | { readonly problem: string } {
  const plain = color.trim().toLowerCase();
  if (/^#[0-9a-f]{6}$/u.test(plain)) return { hex: plain };
  if (/^#[0-9a-f]{3}$/u.test(plain)) return { hex: plain.replace(/[0-9a-f]/gu, "$&$&") };
  const word = plain.replace(/[\s_-]+/gu, "");
  const hex = Object.hasOwn(colorNames, word) ? colorNames[word] : undefined;
  if (hex) return { hex };
  const hint = suggestName(word, Object.keys(colorNames));
  return {
    problem: `"${color}" is not a known color.${hint} Hex values such as #0000ff always work.`,
  };
}

/** Adds the name to a hex value, if there is one: "red (#ff0000)". Names stay as they are. */
export function formatColor(color: string): string {
  const parsedColor = parseColor(color);
  if (!color.trim().startsWith("#") || "problem" in parsedColor) return color;
  const [word] = Object.entries(colorNames).find(([, hex]) => hex === parsedColor.hex) ?? [];
  return word === undefined ? color : `${word} (${parsedColor.hex})`;
}
