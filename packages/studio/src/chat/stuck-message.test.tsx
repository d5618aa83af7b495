import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { StuckMessage } from "./stuck-message.tsx";

const render = (code: string, message: string) =>
  renderToStaticMarkup(
    <StuckMessage reason={{ code, message, retryable: false }} onCancel={() => undefined} />,
  );

test("a run that cannot continue says why, and can be cancelled", () => {
  const note = render("unknown_agent", 'The agent "clerk" is not configured.');
  expect(note).toContain("This run cannot continue. The agent &quot;clerk&quot; is not configured.");
  expect(note).toContain('role="alert"');
  expect(note).toContain("Cancel the run");
});

test("a run of a newer version cannot be cancelled by this server", () => {
  expect(render("newer_version", "Update this process.")).not.toContain("Cancel the run");
});

test("invisible characters in the reason are shown", () => {
  expect(render("unknown_agent", "a\u202eb")).not.toContain("\u202e");
});
