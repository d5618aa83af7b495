import { describe, expect, it } from "vitest";
import { splitProse } from "./cite-sources.ts";
import { describeData } from "./describe-data.ts";

const told = (data: Parameters<typeof describeData>[0], said = "") =>
  describeData(data, { hideIds: false, said });

describe("data as text", () => {
  it("has units where the names of properties tell them", () => {
    expect(told({ name: "Old Mill", distanceMetres: 40, walkingMinutes: 2, percent: 7 })).toBe(
      "Old Mill (40 m, 2 min, 7 %).",
    );
    expect(told({ waitMinutes: 18 })).toBe("Wait: 18 min.");
  });

  it("states how many items are not listed", () => {
    const boats = Array.from({ length: 11 }, (_, at) => ({ name: `Boat ${at}` }));
    expect(told({ boats })).toMatch(/^11 boats:\n- Boat 0\n[\s\S]*- and 3 more$/u);
  });

  it("counts one thing as one, also when its name has several words", () => {
    expect(told({ sailTypes: [{ name: "jib" }] })).toBe("1 sail type:\n- jib");
  });

  it("keeps sentences on separate lines, with their numbers", () => {
    expect(told({ steps: ["1. Turn left.", "2. Stop."] })).toBe("1. Turn left.\n2. Stop.");
    expect(told({ colours: ["red", "blue"] })).toBe("Colours: red, blue.");
  });

  it("omits names, success flags and zeros that the message already contains", () => {
    const data = { done: true, count: 0, kinds: [{ kind: "boat", number: 3 }] };
    expect(told(data, "There is no train, but there are kinds: boat (3).")).toBe("");
  });

  it("shows no ids made for tools, and none at all where that is forbidden", () => {
    const data = [{ id: "b1", ownerId: 7, name: "Heron", hull: { length: 9 } }];
    expect(told(data)).toBe("1 result:\n- Heron (b1, length 9)");
    expect(describeData(data, { hideIds: true })).toBe("1 result:\n- Heron (length 9)");
  });
});

describe("the quotable parts of a Markdown text", () => {
  it("is its sentences and rows, not its code, headings and links", () => {
    const markdown =
      "# Ropes\n\nDocs • Chat • Blog\n\nA rope holds. Two hold more!\n\n```js\nconst rope = 1;\n```\n\n| knot | use |\n| --- | --- |\n| bowline | a loop |\n\n- Dry it well.";
    expect(splitProse(markdown)).toEqual([
      "A rope holds.",
      "Two hold more!",
      "knot: use",
      "bowline: a loop",
      "Dry it well.",
    ]);
  });
});
