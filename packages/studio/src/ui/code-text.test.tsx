import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { CodeText } from "./code-text.tsx";

const render = (text: string) =>
  renderToStaticMarkup(<CodeText text={text} />).replaceAll(/ class="[^"]*"/g, "");

it("text between backticks is code, and everything else stays as it is, also what looks like HTML", () => {
  expect(render("Reads `path` and `<b>`. **Not** [a link](x) `")).toBe(
    "Reads <code>path</code> and <code>&lt;b&gt;</code>. **Not** [a link](x) `",
  );
  expect(render("`a\u202e`b")).toBe("<code>a\\u{202e}</code>b");
});
