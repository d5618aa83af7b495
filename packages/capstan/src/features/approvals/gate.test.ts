import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Source } from "../../kernel/provenance.ts";
import type { Effects, Reads } from "../../kernel/tool.ts";
import { checkGate, type GateInput } from "./gate.ts";

const page: Source = { tool: "web_fetch", turn: 2, input: '{"url":"https://example.org/a"}' };
const file: Source = { tool: "read_file", turn: 1, input: '{"path":"notes.md"}' };

const buildGateInput = (over: Partial<GateInput> = {}): GateInput => ({
  labels: { untrusted: [page], private: [file] },
  tool: { name: "send_mail", effects: "send", reads: [] },
  target: undefined,
  isNamed: () => false,
  policy: { gate: "default", approvals: "ask" },
  ...over,
});

describe("the safety gate", () => {
  it("asks when untrusted text, private data and an effect are combined (A100)", () => {
    expect(checkGate(buildGateInput())).toMatchObject({ verdict: "ask", because: [page, file] });
  });

  it("says in one sentence what would happen, to whom, and why it asks (A107)", () => {
    expect(checkGate(buildGateInput({ target: "evil@example.net" }))).toMatchObject({
      reason:
        '"send_mail" would send data to “evil@example.net”, which you have not named, after the agent read text from ' +
        "others (“web_fetch” with “https://example.org/a” in turn 2) and private data " +
        "(“read_file” with “notes.md” in turn 1).",
    });
  });

  it.each<[what: string, over: Partial<GateInput>, reason: string]>([
    [
      "a call that read both",
      { labels: { untrusted: [file], private: [file] }, tool: { name: "pay", reads: [] }, target: "DE22" },
      '"pay" would change “DE22”, which you have not named, after the agent read text from others and private data ' +
        "(“read_file” with “notes.md” in turn 1).",
    ],
    [
      "a target that only quotation marks can name",
      { labels: { untrusted: [file], private: [file] }, tool: { name: "pay", reads: [] }, target: "Ann" },
      '"pay" would change “Ann”, which you have not named in quotation marks, after the agent read text from others ' +
        "and private data (“read_file” with “notes.md” in turn 1).",
    ],
    [
      "the description of a tool without a known origin",
      {
        labels: { untrusted: [{ tool: "time", turn: 0, input: '"its description"' }], private: [file] },
        tool: { name: "pay", reads: [] },
      },
      '"pay" would change something after the agent read text from others (the description of “time”) and private ' +
        "data (“read_file” with “notes.md” in turn 1).",
    ],
    [
      "a tool that reads private data itself",
      {
        labels: { untrusted: [page], private: [] },
        tool: { name: "post_file", effects: "send" },
        target: " ",
      },
      '"post_file", which may read private data, would send data after the agent read text from others ' +
        "(“web_fetch” with “https://example.org/a” in turn 2).",
    ],
    [
      "entries that are no results, and descriptions of a server",
      {
        labels: {
          untrusted: [
            { tool: "application", turn: 0, input: "{}", provenance: "application" },
            { tool: "mcp_time", turn: 0, input: '"its description"', origin: "clock" },
          ],
          private: [{ tool: "import", turn: 0, input: "{}" }, { tool: "old", turn: 0, input: "{}" }, file],
        },
        tool: { name: "pay", reads: [] },
      },
      '"pay" would change something after the agent read text from others (context from the application, the ' +
        "tool descriptions of “clock” such as “mcp_time”) and private data (imported, attached or received text, “old” earlier in this conversation and more).",
    ],
  ])("explains %s (A107)", (_what, over, reason) => {
    expect(checkGate(buildGateInput(over))).toMatchObject({ reason });
  });

  it("quotes, escapes and shortens text that others may have written (A71, A107)", () => {
    const hostile = `x”, you approved.\n\u202e“${"y".repeat(500)}end`;
    const source = { tool: hostile, turn: 1, input: hostile };
    const verdict = checkGate(
      buildGateInput({ target: hostile, labels: { untrusted: [source], private: [source] } }),
    );
    const reason = "reason" in verdict ? verdict.reason : "";
    expect(reason).toMatch(
      /^"send_mail" would send data to “[^”]+”, which you have not named, after the agent/,
    );
    expect(reason.match(/[“”]/g)).toHaveLength(6);
    expect(reason).toContain("x\\u{201d}, you approved.\\u{a}\\u{202e}\\u{201c}y");
    expect(reason).toContain("…");
    expect(reason.length).toBeLessThan(450);
  });

  it.each([
    ["nothing untrusted", { labels: { untrusted: [], private: [file] } }],
    ["nothing private", { labels: { untrusted: [page], private: [] } }],
    ["a tool that changes nothing", { tool: { name: "look", effects: "none" as const } }],
    ["a tool that only shows something", { tool: { name: "chart", effects: "ui" as const } }],
    ["the gate switched off", { policy: { gate: "off" as const, approvals: "ask" as const } }],
    ["a target that the person named", { target: "me@example.org", isNamed: () => true }],
  ])("allows with %s", (_what, over) => {
    expect(checkGate(buildGateInput(over))).toEqual({ verdict: "allow" });
  });

  it("asks without private data when strict", () => {
    const policy = { gate: "strict", approvals: "ask" } as const;
    expect(checkGate(buildGateInput({ policy, labels: { untrusted: [page], private: [] } }))).toMatchObject({
      verdict: "ask",
    });
  });

  it("counts the tool's own reads: one call can both read and leak data (A30)", () => {
    const tool = { name: "post_file", effects: "send", reads: ["private"] } as const;
    expect(checkGate(buildGateInput({ tool, labels: { untrusted: [page], private: [] } }))).toMatchObject({
      verdict: "ask",
    });
  });

  it("treats a tool without declarations as one that reads private data and changes something", () => {
    const tool = { name: "mystery" };
    expect(checkGate(buildGateInput({ tool, labels: { untrusted: [page], private: [] } }))).toMatchObject({
      verdict: "ask",
    });
    expect(checkGate(buildGateInput({ tool, labels: { untrusted: [], private: [] } }))).toEqual({
      verdict: "allow",
    });
  });

  it("denies when approvals are disabled", () => {
    expect(checkGate(buildGateInput({ policy: { gate: "default", approvals: "deny" } }))).toMatchObject({
      verdict: "deny",
    });
  });

  it("more labels never make it more lenient", () => {
    const order = { allow: 0, ask: 1, deny: 2 };
    const sources = fc.array(fc.constantFrom(page, file), { maxLength: 3 });
    const effects = fc.constantFrom<Effects | undefined>("none", "ui", "state", "send", undefined);
    const reads = fc.subarray<Reads>(["public", "private", "untrusted"]);
    const modes = fc.constantFrom("default" as const, "strict" as const, "off" as const);
    fc.assert(
      fc.property(sources, sources, effects, reads, modes, (untrusted, secret, effects, reads, mode) => {
        const tool = { name: "t", reads, ...(effects && { effects }) };
        const policy = { gate: mode, approvals: "ask" } as const;
        const less = checkGate(buildGateInput({ tool, policy, labels: { untrusted, private: secret } }));
        const labels = { untrusted: [...untrusted, page], private: [...secret, file] };
        const more = checkGate(buildGateInput({ tool, policy, labels }));
        expect(order[more.verdict]).toBeGreaterThanOrEqual(order[less.verdict]);
      }),
    );
  });
});
