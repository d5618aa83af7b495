import fc from "fast-check";
import { expect, it } from "vitest";
import { createClientCallId, parseCallId } from "./call-ids.ts";

it("an id carries its run and its call, and only characters that every provider takes", () => {
  fc.assert(
    fc.property(fc.uuid(), fc.string({ minLength: 1, unit: "grapheme" }), (uuid, callId) => {
      const call = { runId: `run_${uuid}`, callId };
      const id = createClientCallId(call);
      expect(id).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(parseCallId(id)).toEqual(call);
    }),
  );
});

it("ids that were made elsewhere say nothing", () => {
  for (const id of ["call_abc", "run_1-x", "", "run_../../etc-passwd", "__proto__"])
    expect(parseCallId(id)).toBeUndefined();
});
