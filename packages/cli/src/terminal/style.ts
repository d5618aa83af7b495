import { styleText } from "node:util";
import type { Io } from "../io.ts";

const formats = {
  bold: "bold",
  dim: "dim",
  italic: "italic",
  underline: "underline",
  strikethrough: "strikethrough",
  red: "red",
  green: "green",
  yellow: "yellow",
  blue: "blue",
  cyan: "cyan",
  inverse: "inverse",
} as const;

/** Text styles; the functions return the text unchanged when colors are off. */
export type Style = { readonly [Name in keyof typeof formats]: (text: string) => string };

/** Creates the styles for a stream. Respects `NO_COLOR`, `FORCE_COLOR`, dumb terminals and non-terminals. */
export function createStyle(stream: Io["stdout"], env: Io["env"]): Style {
  const isStyled = supportsStyle(stream, env);
  const paint = (format: keyof typeof formats) => (text: string) =>
    isStyled && text !== "" ? styleText(formats[format], text, { validateStream: false }) : text;
  return Object.fromEntries(
    Object.keys(formats).map((name) => [name, paint(name as keyof typeof formats)]),
  ) as Style;
}

function supportsStyle(stream: Io["stdout"], { NO_COLOR, FORCE_COLOR, TERM }: Io["env"]): boolean {
  if (NO_COLOR) return false;
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  return stream.isTTY === true && TERM !== "dumb";
}
