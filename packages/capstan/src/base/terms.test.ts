import { expect, it } from "vitest";
import { foldCase, listTerms } from "./terms.ts";

const findShared = (text: string, passage: string) =>
  listTerms(text).filter((term) => foldCase(passage).includes(term));

it("the terms of a text are its content words, without function words and numbers", () => {
  expect(listTerms("What is the price of 2 hotels, and of the hotels in Oslo?")).toEqual([
    " pric",
    " hote",
    " oslo",
  ]);
  expect(listTerms("It is 2 + 2.")).toEqual([]);
});

it.each([
  ["cats", "My cat sleeps.", 1],
  ["validates", "Validation with schemas.", 1],
  ["Café", "CAFE", 1],
  ["art", "The party starts.", 0],
  ["価格は", "宿の価格", 1],
])("the term of %j in %j: %i", (text, passage, count) => {
  expect(findShared(text, passage)).toHaveLength(count);
});
