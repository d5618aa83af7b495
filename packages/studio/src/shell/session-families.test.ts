import { expect, test } from "vitest";
import { buildFamilies } from "./session-families.ts";

const list = (...sessions: readonly (readonly [id: string, origin?: string])[]) =>
  sessions.map(([id, origin]) => ({
    ...{ id, title: id, facts: 1, createdAt: 0, updatedAt: 0 },
    ...(origin !== undefined && { origin }),
  }));
const show = (families: ReturnType<typeof buildFamilies>) =>
  families.map(({ session, branches }) => [session.id, ...branches.map(({ id }) => id)].join(" "));

test("branches are below their session, where the newest of them was used", () => {
  expect(show(buildFamilies(list(["c", "b"], ["x"], ["b", "a"], ["a"])))).toEqual(["a c b", "x"]);
});

test("a branch of a session that is not listed stands alone, and a circle ends", () => {
  expect(show(buildFamilies(list(["b", "gone"], ["x", "y"], ["y", "x"]))).length).toBeGreaterThan(1);
  expect(buildFamilies(list(["b", "gone"]))[0]?.branches).toEqual([]);
});
