import { escapeTerminalLine } from "../terminal/escape-terminal.ts";
import { createPrompt } from "../terminal/prompt.ts";
import { truncateColumns, wrapText } from "../terminal/wrap.ts";
import type { View } from "./view.ts";

/** Label, key hints and the problem of the last attempt. */
export type ValuePrompt = {
  readonly label: string;
  readonly hint: string;
  readonly problem?: string;
  /** The text to start with. */
  readonly text?: string;
};

/** The typed value. `left`: Esc. `stopped`: Ctrl-C. */
export type ValuePromptResult =
  | { readonly type: "typed"; readonly text: string }
  | { readonly type: "left" }
  | { readonly type: "stopped" };

/** Prompts for one value; the text of the main prompt is kept. */
export function promptForValue(
  view: View,
  { label, hint, problem = "", text = "" }: ValuePrompt,
): Promise<ValuePromptResult> {
  const { style } = view;
  const own = createPrompt([]);
  own.setText(text);
  return new Promise((resolve) => {
    const end = (typed: ValuePromptResult) => {
      leave();
      resolve(typed);
    };
    const leave = view.pushMode({
      pressKey(key) {
        const used = own.pressKey(key);
        if (typeof used === "object") end({ type: "typed", text: used.submitted });
        else if (used === "unused" && key.type === "press") {
          if (key.name === "escape") end({ type: "left" });
          else if (key.name === "ctrl+c") end({ type: "stopped" });
        }
      },
      render(columns) {
        const look = { style, mark: style.yellow("› "), hint: "" };
        const { rows, cursor } = own.render(columns, look);
        const above = [
          ...wrapText(escapeTerminalLine(label), columns).map(style.bold),
          ...(problem ? [style.red(truncateColumns(escapeTerminalLine(problem), columns))] : []),
        ];
        const below = style.dim(truncateColumns(hint, columns));
        return {
          rows: [...above, ...rows, below],
          cursor: cursor && { row: cursor.row + above.length, column: cursor.column },
        };
      },
    });
  });
}
