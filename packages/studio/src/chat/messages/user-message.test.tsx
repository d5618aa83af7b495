import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { UserMessage } from "./user-message.tsx";

function renderMessage(provenance?: "external" | "application"): string {
  const entry = {
    type: "user",
    runId: "r",
    seq: 1,
    content: "Hi.",
    ...(provenance && { provenance }),
  } as const;
  const doNothing = () => undefined;
  return renderToStaticMarkup(
    <UserMessage
      item={{ type: "user", key: "k", seq: 1, startSeq: 1, entry }}
      {...{ branch: 0, branches: 1, isEditing: false }}
      {...{ onEdit: doNothing, onResend: async () => undefined, onBranch: doNothing }}
    />,
  );
}

test("a message says that it was imported or comes from the application, and only then", () => {
  expect(renderMessage("external")).toMatch(/aria-label="External message".*>External message</);
  expect(renderMessage("application")).toContain(">Message from the application<");
  expect(renderMessage()).toContain('aria-label="Your message"');
  expect(renderMessage()).not.toMatch(/Imported|>Your message</);
});
