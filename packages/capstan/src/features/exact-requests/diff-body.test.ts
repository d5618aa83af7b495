import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Entry } from "../../kernel/history.ts";
import { type Body, diffBody } from "./diff-body.ts";
import { createHistoryJoiner } from "./history-joiner.ts";
import { joinLayout, resolvePieces, type TextPiece } from "./text-pieces.ts";

const joinHistory = createHistoryJoiner((entry) => JSON.stringify(entry));

function buildBody(head: string, entries: readonly Entry[]): Required<Body> {
  const history = joinHistory(entries);
  const parts = { head, history, tail: "]}" };
  return { body: `${head}${history.text}]}`, parts };
}

async function rebuild({ body: source }: Body, pieces: readonly TextPiece[]): Promise<string> {
  const layout = [{ source, start: 0, length: source.length }];
  return joinLayout(await resolvePieces(pieces, layout, () => Promise.reject(new Error("no media"))));
}

const user = (content: string): Entry => ({ type: "user", content });

describe("a body described by its difference to an earlier one", () => {
  it("is rebuilt exactly, however the history and the head change", async () => {
    const change = fc.record({
      head: fc.constantFrom("{", '{"tools":[],"history":['),
      remove: fc.boolean(),
      copy: fc.boolean(),
      add: fc.array(fc.string(), { maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 2, maxLength: 6 }), async (changes) => {
        let history: Entry[] = [];
        const bodies: Body[] = [];
        for (const { head, remove, copy, add } of changes) {
          if (copy) history = [...history];
          if (remove) history.pop();
          history.push(...add.map(user));
          bodies.push(buildBody(head, history));
        }
        for (const base of bodies)
          for (const next of bodies) expect(await rebuild(base, diffBody(base, next))).toBe(next.body);
      }),
    );
  });

  it("does not read the bodies of a history that has grown", () => {
    const history = [user("first")];
    const base = buildBody("{", history);
    history.push(user("second"), user("third"));
    const next = buildBody("{", history);
    const unread = ({ parts }: Required<Body>): Body => ({
      get body(): string {
        throw new Error("It was read.");
      },
      parts,
    });
    const added = `,${JSON.stringify(history[1])},${JSON.stringify(history[2])}]}`;
    expect(diffBody(unread(base), unread(next))).toEqual([[0, base.body.length - 2], added]);
    expect(() => diffBody(unread(next), unread(base))).toThrow("It was read.");
    expect(() => diffBody(unread(base), unread(buildBody("{{", history)))).toThrow("It was read.");
  });
});
