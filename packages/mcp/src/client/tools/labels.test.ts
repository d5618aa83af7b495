import type { ToolAnnotations } from "@modelcontextprotocol/client";
import { assert, boolean, option, property, record, string } from "fast-check";
import { describe, expect, it } from "vitest";
import type { CommonConfig } from "../config/server-config.ts";
import { resolveLabels } from "./labels.ts";

const hint = () => option(boolean(), { nil: undefined });
const anyAnnotations = record({
  ...{ title: string(), readOnlyHint: hint(), destructiveHint: hint() },
  ...{ idempotentHint: hint(), openWorldHint: hint() },
}) as unknown as import("fast-check").Arbitrary<ToolAnnotations>;
const strictness = ["none", "ui", "state", "send"];
const labels = (annotations: ToolAnnotations, config: CommonConfig = {}) =>
  resolveLabels("wipe", annotations, config);

describe("the labels of a server's tool", () => {
  it("are untrusted, private, state-changing and not idempotent by default", () => {
    expect(labels({})).toEqual({
      ...{ effects: "state", reads: ["untrusted", "private"], idempotent: false, needsApproval: false },
    });
  });

  it("become stricter by the server's annotations, and never weaker", () => {
    assert(
      property(anyAnnotations, (annotations) => {
        const { effects, reads, idempotent, needsApproval } = labels(annotations);
        expect(strictness.indexOf(effects)).toBeGreaterThanOrEqual(strictness.indexOf("state"));
        expect(reads).toEqual(["untrusted", "private"]);
        expect(idempotent).toBe(false);
        expect(Boolean(needsApproval)).toBe(annotations.destructiveHint === true);
      }),
    );
    expect(labels({ openWorldHint: true }).effects).toBe("send");
    expect(labels({ destructiveHint: true }).needsApproval).toContain('marks "wipe" as destructive');
  });

  it("are relaxed only by the user, with tool settings before server settings", () => {
    const destructive = { destructiveHint: true, openWorldHint: true };
    const server = { effects: "ui", reads: ["private"], idempotent: true, needsApproval: false } as const;
    expect(labels(destructive, server)).toEqual(server);
    const own = { effects: "none", reads: [], idempotent: false, needsApproval: true } as const;
    expect(labels(destructive, { ...server, tools: { wipe: own } })).toEqual(own);
    expect(labels(destructive, { ...server, tools: { other: own } })).toEqual(server);
  });

  it("of a tool named like an Object property are its own", () => {
    const config = { tools: {} };
    expect(resolveLabels("constructor", {}, config)).toEqual(labels({}));
    expect(resolveLabels("toString", {}, config)).toEqual(labels({}));
  });

  it("trust the server's read-only and idempotent hints if the user configures it", () => {
    const claims = { readOnlyHint: true, idempotentHint: true };
    expect(labels(claims)).toMatchObject({ effects: "state", idempotent: false });
    const believed = labels(claims, { trustAnnotations: true });
    expect(believed).toMatchObject({ effects: "none", idempotent: true, reads: ["untrusted", "private"] });
    const denied = { trustAnnotations: true, effects: "send" } as const;
    expect(labels(claims, denied).effects).toBe("send");
    expect(labels({ destructiveHint: true }, { trustAnnotations: true }).needsApproval).not.toBe(false);
  });
});
