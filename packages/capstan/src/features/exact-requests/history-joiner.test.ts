import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Entry } from "../../kernel/history.ts";
import { createHistoryJoiner, type JoinedHistory } from "./history-joiner.ts";

const user = (content: string): Entry => ({ type: "user", content });
const text = (entry: Entry) => JSON.stringify(entry);

describe("a joined history", () => {
  it("is the texts of its entries, in order", () => {
    const join = createHistoryJoiner(text);
    expect(join([]).text).toBe("");
    expect(join([user("a"), user("b")]).text).toBe(`${text(user("a"))},${text(user("b"))}`);
  });

  it("writes each entry once, though the list grows or is another one", () => {
    const written: Entry[] = [];
    const join = createHistoryJoiner((entry) => {
      written.push(entry);
      return text(entry);
    });
    const history = [user("a")];
    join(history);
    history.push(user("b"));
    join(history);
    join([...history]);
    expect(written).toEqual([user("a"), user("b")]);
  });

  it("is correct however the list changes between two turns", () => {
    const change = fc.oneof(
      fc.record({ push: fc.string() }),
      fc.constant({ pop: true }),
      fc.record({ replaceLast: fc.string() }),
      fc.constant({ clear: true }),
    );
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        const join = createHistoryJoiner(text);
        const history: Entry[] = [];
        const earlier: JoinedHistory[] = [];
        for (const one of changes) {
          if ("push" in one) history.push(user(one.push));
          else if ("pop" in one) history.pop();
          else if ("clear" in one) history.length = 0;
          else if (history.length > 0) history[history.length - 1] = user(one.replaceLast);
          const joined = join(history);
          expect(joined.text).toBe(history.map(text).join(","));
          earlier.push(joined);
          for (const { entries, count, text: before } of earlier)
            expect(entries.slice(0, count).join("")).toBe(before);
        }
      }),
    );
  });
});
