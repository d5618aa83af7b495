import { expect, it } from "vitest";
import { matchRelation } from "./relation.ts";

const edges = ["owner_of", "lives_in", "WORKS_FOR", "friendOf", "knows"].map((type, at) => {
  return { id: `e${at}`, from: "a", to: "b", data: { type } };
});

it.each([
  ["owns", "owner_of"],
  ["the owner", "owner_of"],
  ["living in", "lives_in"],
  ["works for", "WORKS_FOR"],
  ["friends", "friendOf"],
  ["known", undefined],
  ["of", undefined],
])("the relation %j means the edges %s", (relation, type) => {
  expect(matchRelation(edges, relation)).toEqual(type === undefined ? [] : [type]);
});
