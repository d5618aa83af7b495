import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool } from "../tool.ts";
import { digestOf } from "./digest.ts";

const pay = { name: "pay", description: "Pays", input: z.object({ to: z.string(), amount: z.number() }) };
const call = { id: "c1", input: { to: "Ada", amount: 5 } };

describe("the digest of an approval", () => {
  it("is the same for the same run, call, tool and arguments, in any order of keys (A109)", async () => {
    const digest = await digestOf("r", defineTool(pay), call);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(await digestOf("r", defineTool(pay), { id: "c1", input: { amount: 5, to: "Ada" } })).toBe(digest);
  });

  it("is another one for another run, call, tool or argument (A109)", async () => {
    const digests = await Promise.all([
      digestOf("r", defineTool(pay), call),
      digestOf("r2", defineTool(pay), call),
      digestOf("r", defineTool(pay), { ...call, id: "c2" }),
      digestOf("r", defineTool(pay), { ...call, input: { to: "Ada", amount: 50 } }),
      digestOf("r", defineTool(pay), { ...call, input: { to: "Ada", amount: "5" } }),
      digestOf("r", defineTool({ ...pay, name: "pay2" }), call),
      digestOf("r", defineTool({ ...pay, description: "Pays at once, to anyone" }), call),
      digestOf("r", defineTool({ ...pay, input: z.object({ to: z.string(), amount: z.string() }) }), call),
    ]);
    expect(new Set(digests).size).toBe(digests.length);
  });

  it("covers a question in the middle of the call, and which one it is (A109)", async () => {
    const tool = defineTool(pay);
    const digests = await Promise.all([
      digestOf("r", tool, call),
      digestOf("r", tool, { ...call, asked: [1, { message: "Sure?" }] }),
      digestOf("r", tool, { ...call, asked: [2, { message: "Sure?" }] }),
      digestOf("r", tool, { ...call, asked: [1, { message: "Really?" }] }),
      digestOf("r", tool, { ...call, asked: [1, { message: "Sure?", state: 1 }] }),
      digestOf("r2", tool, { ...call, asked: [1, { message: "Sure?" }] }),
    ]);
    expect(new Set(digests).size).toBe(digests.length);
  });
});
