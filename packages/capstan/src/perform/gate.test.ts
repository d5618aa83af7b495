import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Source } from "../provenance.ts";
import type { Effects, Reads } from "../tool.ts";
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

  it("names the sources of the text and the data (A107)", () => {
    expect(checkGate(buildGateInput({ target: "evil@example.net" }))).toMatchObject({
      reason:
        '"send_mail" reaches the outside (evil@example.net) after untrusted text was read by ' +
        'web_fetch in turn 2 with {"url":"https://example.org/a"}, and private data by read_file in turn 1 with {"path":"notes.md"}.',
    });
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
