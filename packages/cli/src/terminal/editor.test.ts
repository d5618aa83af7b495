import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyKey, createEditor, type EditorState, withText } from "./editor.ts";

/** The text after these keys, with | where the cursor is. */
function afterKeys(start: EditorState, ...names: string[]): string {
  let state = start;
  for (const name of names) {
    const next = applyKey(
      state,
      name.startsWith("'") ? { type: "text", text: name.slice(1) } : { type: "press", name },
    );
    if (typeof next === "object") state = next;
  }
  return `${state.text.slice(0, state.cursor)}|${state.text.slice(state.cursor)}`;
}
const text = (value: string) => withText(createEditor(["first", "second"]), value);

describe("the editor of the prompt", () => {
  it.each<[string, string[], string]>([
    ["ab", ["left", "'x"], "ax|b"],
    ["a👩‍👩‍👧", ["left", "backspace"], "|👩‍👩‍👧"],
    ["a👩‍👩‍👧", ["backspace"], "a|"],
    ["one two", ["alt+b"], "one |two"],
    ["one two", ["home", "alt+f"], "one| two"],
    ["one two", ["ctrl+w", "ctrl+w", "ctrl+y"], "one |"],
    ["one two", ["ctrl+a", "ctrl+k", "'x", "ctrl+y"], "xone two|"],
    ["one", ["shift+enter", "'x"], "one\nx|"],
    ["one", ["ctrl+j"], "one\n|"],
    ["one\\", ["enter"], "one\n|"],
    ["long line\nab", ["up", "end"], "long line|\nab"],
    ["ab\nlong", ["up"], "ab|\nlong"],
    ["mine", ["up"], "second|"],
    ["mine", ["up", "up", "up"], "first|"],
    ["mine", ["up", "up", "down", "down"], "mine|"],
  ])("%j with %j is %j", (start, names, wanted) => {
    expect(afterKeys(text(start), ...names)).toBe(wanted);
  });

  it("submits with Enter, and strips control sequences from a paste", () => {
    expect(applyKey(text("x"), { type: "press", name: "enter" })).toBe("submit");
    expect(applyKey(text(""), { type: "paste", text: "a\x1b[2Jb\nc" })).toMatchObject({ text: "ab\nc" });
  });

  it("keeps the cursor between two characters, whatever is pressed", () => {
    const names = fc.constantFrom(
      "left",
      "right",
      "up",
      "down",
      "home",
      "end",
      "backspace",
      "delete",
      "alt+b",
      "alt+f",
      "ctrl+w",
      "ctrl+k",
      "ctrl+y",
      "ctrl+j",
      "'👍",
      "'e\u0301",
      "'a b",
    );
    fc.assert(
      fc.property(fc.array(names, { maxLength: 40 }), (pressed) => {
        const shown = afterKeys(text(""), ...pressed);
        const [before = "", behind = ""] = shown.split("|");
        expect(before.isWellFormed() && behind.isWellFormed()).toBe(true);
      }),
    );
  });
});
