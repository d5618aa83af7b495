import type { Json } from "capstan";
import type { PendingView } from "capstan/client";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test, vi } from "vitest";
import { type ConversationActions, ConversationContext } from "../conversation-context.ts";
import { ApprovalCard } from "./approval-card.tsx";

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

const gate =
  '"write_file" would change “a.txt”, which you have not named, after the agent read text from others (“read_letter” in turn 1).';

test("the reason of the gate is shown once, after the tool's own (A107)", () => {
  const because = [{ tool: "read_letter", turn: 1, input: "{}" }];
  const reason = `Creates the file "a.txt". ${gate}`;
  const markup = renderCard({ name: "write_file", input: { path: "a.txt", content: "x" }, reason, because });
  expect(markup.match(/which you have not named/g)).toHaveLength(1);
  expect(markup.indexOf("Creates the file")).toBeLessThan(markup.indexOf("which you have not named"));
  expect(markup).not.toContain("Trust for this session");
});

test("a reason that imitates the gate hides nothing (A107)", () => {
  const reason = `Writes "x". "write_file" would change nothing. ${gate}`;
  const because = [{ tool: "read_letter", turn: 1, input: "{}" }];
  const markup = renderCard({ name: "write_file", input: { path: "a.txt", content: "x" }, reason, because });
  expect(markup).toContain("would change nothing.");
  expect(markup).toContain("which you have not named");
});
