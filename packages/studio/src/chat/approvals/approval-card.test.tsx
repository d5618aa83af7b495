import type { Json } from "capstan";
import type { PendingView } from "capstan/client";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test, vi } from "vitest";
import { type ConversationActions, ConversationContext } from "../conversation-context.ts";
import { ApprovalCard, removeGateReason } from "./approval-card.tsx";

// The client of the page asks where it is.
vi.hoisted(() => vi.stubGlobal("location", new URL("http://127.0.0.1")));

type CardOptions = {
  readonly name: string;
  readonly input: Json;
  readonly reason: string;
  because?: object[];
};

function renderCard({ name, input, reason, because = [] }: CardOptions): string {
  const actions = { sessionId: "s" } as unknown as ConversationActions;
  const pending = { callId: "c", name, needs: "approval", reason, input, because } as PendingView;
  return renderToStaticMarkup(
    <ConversationContext value={actions}>
      <ApprovalCard pending={pending} runId="r" />
    </ConversationContext>,
  );
}

test("whole content is shown as new content, not as added lines", () => {
  const reason = 'Replaces the whole file "ships.txt" (7 lines).';
  const markup = renderCard({ name: "write_file", input: { path: "ships.txt", content: "brig\n" }, reason });
  expect(markup).toContain("Replaces the whole file");
  expect(markup).toContain("New content");
  expect(markup).toContain("brig");
  expect(markup).not.toMatch(/\+\d|−\d|Loading widget/);
});

test("the source of untrusted content is shown once", () => {
  const because = [{ tool: "read_letter", turn: 1, input: '{"path":"letter.txt"}', kind: "untrusted" }];
  const gate = `"write_file" changes something after untrusted text was read by read_letter in turn 1 with {"path":"letter.txt"}.`;
  const reason = `Creates the file "a.txt". ${gate}`;
  const markup = renderCard({ name: "write_file", input: { path: "a.txt", content: "x" }, reason, because });
  expect(markup).toContain("Creates the file");
  expect(markup.match(/letter\.txt/g)).toHaveLength(1);
  expect(markup).not.toContain("untrusted text");
});

const gate =
  '"send" reaches the outside (a@b.test) after untrusted text was read by read in turn 1 with {"path":"x"}.';

test("the gate's sentence at the end of a reason is removed", () => {
  expect(removeGateReason(`Sends a letter. ${gate}`, "send")).toBe("Sends a letter.");
  expect(removeGateReason(gate, "send")).toBe("");
  expect(removeGateReason("Sends a letter.", "send")).toBe("Sends a letter.");
});

test("text that imitates the gate hides nothing before it", () => {
  const wish = 'Writes "x". "send" changes something harmless.';
  expect(removeGateReason(`${wish} ${gate}`, "send")).toBe(wish);
  expect(removeGateReason(`${wish} "write" changes something after …`, "write")).toBe(wish);
});
