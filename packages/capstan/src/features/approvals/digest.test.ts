import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool } from "../../kernel/tool.ts";
import { computeDigest } from "./digest.ts";

const pay = { name: "pay", description: "Pays", input: z.object({ to: z.string(), amount: z.number() }) };
const call = { id: "c1", input: { to: "Ada", amount: 5 } };

describe("the digest of an approval", () => {
  it("is the same for the same run, call, tool and arguments, in any order of keys (A109)", async () => {
    const digest = await computeDigest("r", defineTool(pay), call);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(await computeDigest("r", defineTool(pay), { id: "c1", input: { amount: 5, to: "Ada" } })).toBe(
      digest,
    );
  });

  it("differs for another run, call, tool or argument (A109)", async () => {
    const digests = await Promise.all([
      computeDigest("r", defineTool(pay), call),
      computeDigest("r2", defineTool(pay), call),
      computeDigest("r", defineTool(pay), { ...call, id: "c2" }),
      computeDigest("r", defineTool(pay), { ...call, input: { to: "Ada", amount: 50 } }),
      computeDigest("r", defineTool(pay), { ...call, input: { to: "Ada", amount: "5" } }),
      computeDigest("r", defineTool({ ...pay, name: "pay2" }), call),
      computeDigest("r", defineTool({ ...pay, effects: "state" }), call),
      computeDigest("r", defineTool({ ...pay, effects: "send" }), call),
      computeDigest("r", defineTool({ ...pay, reads: ["untrusted"] }), call),
      computeDigest("r", defineTool({ ...pay, foreign: true }), call),
      computeDigest("r", defineTool({ ...pay, idempotent: true }), call),
      computeDigest("r", defineTool({ ...pay, description: "Pays at once, to anyone" }), call),
      computeDigest(
        "r",
        defineTool({ ...pay, input: z.object({ to: z.string(), amount: z.string() }) }),
        call,
      ),
    ]);
    expect(new Set(digests).size).toBe(digests.length);
  });

  it("covers the examples, and is the one that earlier versions stored with the examples in the schema (A109)", async () => {
    const tool = defineTool({ ...pay, examples: [{ phrase: "pay {to}" }] });
    const { examples, schema, ...rest } = tool;
    const earlier = { ...rest, schema: { ...schema, json: { ...schema.json, examples } } };
    expect(await computeDigest("r", tool, call)).toBe(await computeDigest("r", earlier, call));
    expect(await computeDigest("r", tool, call)).not.toBe(await computeDigest("r", defineTool(pay), call));
  });

  it("covers a question during the call and its number (A109)", async () => {
    const tool = defineTool(pay);
    const digests = await Promise.all([
      computeDigest("r", tool, call),
      computeDigest("r", tool, { ...call, asked: [1, { message: "Sure?" }] }),
      computeDigest("r", tool, { ...call, asked: [2, { message: "Sure?" }] }),
      computeDigest("r", tool, { ...call, asked: [1, { message: "Really?" }] }),
      computeDigest("r", tool, { ...call, asked: [1, { message: "Sure?", state: 1 }] }),
      computeDigest("r2", tool, { ...call, asked: [1, { message: "Sure?" }] }),
    ]);
    expect(new Set(digests).size).toBe(digests.length);
  });
});
