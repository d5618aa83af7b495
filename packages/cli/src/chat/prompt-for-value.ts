import { harmlessLine } from "../terminal/escape-terminal.ts";
import { prompt } from "../terminal/prompt.ts";
import { shortened, wrapped } from "../terminal/wrap.ts";
import type { View } from "./view.ts";

/** What is asked for, what keys do, and what was wrong with the last try. */
export type TypeIn = { readonly label: string; readonly hint: string; readonly problem?: string };

/** What a person typed. `left`: Esc. `stopped`: Ctrl-C. */
export type Typed =
  | { readonly type: "typed"; readonly text: string }
  | { readonly type: "left" }
  | { readonly type: "stopped" };

/** A prompt of its own for one value; what stood in the other one stays there. */
export function typeIn(view: View, { label, hint, problem = "" }: TypeIn): Promise<Typed> {
  const { style } = view;
  const own = prompt([]);
  return new Promise((resolve) => {
    const end = (typed: Typed) => {
      leave();
      resolve(typed);
    };
    const leave = view.use({
      press(key) {
        const used = own.press(key);
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
          ...wrapped(harmlessLine(label), columns).map(style.bold),
          ...(problem ? [style.red(shortened(harmlessLine(problem), columns))] : []),
        ];
        const below = style.dim(shortened(hint, columns));
        return {
          rows: [...above, ...rows, below],
          cursor: cursor && { row: cursor.row + above.length, column: cursor.column },
        };
      },
    });
  });
}
