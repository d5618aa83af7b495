import type { Json } from "capstan";
import type { PendingView } from "capstan/client";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test, vi } from "vitest";
import { type ConversationActions, ConversationContext } from "../conversation-context.ts";
import { ApprovalCard } from "./approval-card.tsx";
import { RuleList } from "./approval-rules.tsx";
import { buildArgumentFields, parseFieldValues, toFieldValues } from "./argument-fields.ts";
import { buildInputEmail } from "./input-email.ts";

// The client of the page asks where it is.
vi.hoisted(() => vi.stubGlobal("location", new URL("http://127.0.0.1")));

type CardOptions = Partial<Pick<PendingView, "expiresAt" | "always" | "pattern" | "ui" | "leaks">> & {
  readonly name: string;
  readonly input: Json;
  readonly reason: string;
  because?: object[];
};

function renderCard({ because = [], ...call }: CardOptions): string {
  const actions = { sessionId: "s" } as unknown as ConversationActions;
  const pending = { callId: "c", needs: "approval", because, ...call } as PendingView;
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
  expect(markup).not.toContain("Always allow");
});

test("a reason that imitates the gate hides nothing (A107)", () => {
  const reason = `Writes "x". "write_file" would change nothing. ${gate}`;
  const because = [{ tool: "read_letter", turn: 1, input: "{}" }];
  const markup = renderCard({ name: "write_file", input: { path: "a.txt", content: "x" }, reason, because });
  expect(markup).toContain("would change nothing.");
  expect(markup).toContain("which you have not named");
});

const sending = { name: "send", input: { to: "a@b.test" }, reason: "Sends a letter." };

test("“Always allow” says what it covers, and is absent if nothing can be allowed in advance", () => {
  const markup = renderCard({ ...sending, always: { digest: "d", target: "a\u202e@b.test" } });
  expect(markup).toContain("Always allow</button>");
  expect(markup).toContain(
    "covers send for a\\u{202e}@b.test, whatever the other arguments are, in this session",
  );
  expect(renderCard({ ...sending, always: { digest: "d" } })).toContain("send with exactly these arguments");
  expect(renderCard(sending)).not.toContain("Always");
});

test("a pattern that the tool offers is a choice of its own, and says what it covers", () => {
  const markup = renderCard({ ...sending, pattern: { digest: "p", pattern: "to *@b.test" } });
  expect(markup).toContain("Allow pattern</button>");
  expect(markup).toContain("covers every call of send that matches to *@b.test, in this session");
  expect(renderCard(sending)).not.toContain("Allow pattern");
});

test("the card says until when the user can decide; after that it offers nothing", () => {
  const open = renderCard({ ...sending, expiresAt: Date.now() + 86_400_000 });
  expect(open).toMatch(/You can decide until [A-Z][a-z]{2} \d+, \d\d:\d\d\./);
  const expired = renderCard({ ...sending, always: { digest: "d" }, expiresAt: Date.now() - 1 });
  expect(expired).toContain("This request expired on");
  expect(expired).not.toMatch(/<button|<input|Always/);
});

test("every approval rule can be revoked by its full description", () => {
  const rule = { tool: "send", digest: "d", shown: "{}", runId: "r", createdAt: 0 };
  const rules = [
    { ...rule, id: "1", target: "a@b.test" },
    { ...rule, id: "2" },
  ];
  const markup = renderToStaticMarkup(<RuleList rules={rules} onRevoke={() => undefined} />);
  expect(markup).toContain('aria-label="Require approval again for send for a@b.test, whatever');
  expect(markup).toContain('aria-label="Require approval again for send with exactly these arguments: {}"');
  expect(renderToStaticMarkup(<RuleList rules={[]} onRevoke={() => undefined} />)).toBe("");
});

test("a harmless call shows no warning; one with private data or untrusted sources does", () => {
  const harmless = renderCard(sending);
  expect(harmless).not.toMatch(/data-warning|text-warn|border-warn/);
  const leaks = [{ tool: "read", turn: 1, shown: "IBAN…42" }];
  expect(renderCard({ ...sending, leaks })).toContain("data-warning");
  expect(renderCard({ ...sending, because: [{ tool: "fetch", turn: 1, input: "{}" }] })).toContain(
    "data-warning",
  );
});

test("arguments that are an email are shown as one, and in full", () => {
  const input = { to: ["ann@b.test"], subject: "Budget", body: "Dear Ann" };
  expect(buildInputEmail(input)).toEqual({ kind: "email", props: input });
  expect(buildInputEmail({ to: "ann@b.test", text: "Hi", subject: "" })).toMatchObject({
    props: { to: ["ann@b.test"] },
  });
  expect(buildInputEmail({ to: "Oslo", date: "today" })).toBeUndefined();
});

test("the form of the arguments keeps their types, and empty texts", () => {
  const input = { to: "ann", text: "a\nb", count: 2, isDraft: false, tags: ["x"], note: "" };
  const fields = buildArgumentFields(input) ?? [];
  expect(fields.map(({ type }) => type)).toEqual(["text", "lines", "number", "boolean", "json", "text"]);
  const values = toFieldValues(fields, input);
  const parse = (changed: object) => parseFieldValues({ fields, values: { ...values, ...changed }, input });
  expect(parse({})).toEqual({ input });
  expect(parse({ count: "two" })).toEqual({ problem: "“count” must be a number." });
  expect(parse({ count: "true" })).toEqual({ problem: "“count” must be a number." });
  expect(parse({ tags: "[" })).toEqual({ problem: "“tags” is not valid JSON." });
  expect(buildArgumentFields({})).toBeUndefined();
});

test("the form of the arguments follows the schema of the tool: choices, types, required and optional ones", () => {
  const schema = {
    type: "object",
    properties: {
      kind: { enum: ["letter", "card"], description: "What to send" },
      copies: { type: "integer" },
      isUrgent: { type: "boolean" },
      to: { type: "string", title: "Recipient" },
      size: { type: "string" },
    },
    required: ["kind", "to"],
  };
  const input = { kind: "card", to: "ann", size: 4, extra: true };
  const fields = buildArgumentFields(input, schema) ?? [];
  expect(fields.map(({ name, type, isRequired }) => [name, type, isRequired])).toEqual([
    ["kind", "choice", true],
    ["copies", "number", false],
    ["isUrgent", "boolean", false],
    ["to", "text", true],
    ["size", "json", false], // its value is no text
    ["extra", "boolean", true], // the schema does not name it
  ]);
  const values = toFieldValues(fields, input);
  const parse = (changed: object) => parseFieldValues({ fields, values: { ...values, ...changed }, input });
  expect(parse({})).toEqual({ input }); // what is optional and absent stays absent
  expect(parse({ kind: "0", copies: "2", isUrgent: "true", to: "" })).toEqual({
    input: { ...input, kind: "letter", copies: 2, isUrgent: true, to: "" },
  });
  expect(parse({ kind: "" })).toEqual({ problem: "“kind” is required." });
  expect(buildArgumentFields({}, schema)).toHaveLength(5);
  expect(buildArgumentFields("text", schema)).toBeUndefined();
});
