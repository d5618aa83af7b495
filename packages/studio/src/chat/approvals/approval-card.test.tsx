import type { Json } from "capstan";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test, vi } from "vitest";
import { type ConversationActions, ConversationContext } from "../conversation-context.ts";
import { ApprovalCard, ownReason } from "./approval-card.tsx";

// The client of the page asks where it is.
vi.hoisted(() => vi.stubGlobal("location", new URL("http://127.0.0.1")));

type Asked = { readonly name: string; readonly input: Json; readonly reason: string; because?: object[] };

function cardOf({ name, input, reason, because = [] }: Asked): string {
  const approvals = new Map([["c", { input, because }]]);
  const actions = { sessionId: "s", index: () => ({ approvals }) } as unknown as ConversationActions;
  const pending = { callId: "c", name, needs: "approval", reason } as const;
  return renderToStaticMarkup(
    <ConversationContext value={actions}>
      <ApprovalCard pending={pending} runId="r" />
    </ConversationContext>,
  );
}

test("a content is shown as what is new, not as lines that are added", () => {
  const reason = 'Replaces the whole file "ships.txt" (7 lines).';
  const shown = cardOf({ name: "write_file", input: { path: "ships.txt", content: "brig\n" }, reason });
  expect(shown).toContain("Replaces the whole file");
  expect(shown).toContain("New content");
  expect(shown).toContain("brig");
  expect(shown).not.toMatch(/\+\d|−\d|Loading widget/);
});

test("where the words came from that are behind a call is said once", () => {
  const because = [{ tool: "read_letter", turn: 1, input: '{"path":"letter.txt"}', kind: "untrusted" }];
  const gate = `"write_file" changes something after text that is not to be trusted was read by read_letter in turn 1 with {"path":"letter.txt"}.`;
  const reason = `Creates the file "a.txt". ${gate}`;
  const shown = cardOf({ name: "write_file", input: { path: "a.txt", content: "x" }, reason, because });
  expect(shown).toContain("Creates the file");
  expect(shown.match(/letter\.txt/g)).toHaveLength(1);
  expect(shown).not.toContain("not to be trusted");
});

const gate =
  '"send" reaches the outside (a@b.test) after text that is not to be trusted was read by read in turn 1 with {"path":"x"}.';

test("of a reason the sentence of the gate is left out, which is the last one", () => {
  expect(ownReason(`Sends a letter. ${gate}`, "send")).toBe("Sends a letter.");
  expect(ownReason(gate, "send")).toBe("");
  expect(ownReason("Sends a letter.", "send")).toBe("Sends a letter.");
});

test("words that look like the gate's hide nothing before them", () => {
  const wish = 'Writes "x". "send" changes something harmless.';
  expect(ownReason(`${wish} ${gate}`, "send")).toBe(wish);
  expect(ownReason(`${wish} "write" changes something after …`, "write")).toBe(wish);
});
