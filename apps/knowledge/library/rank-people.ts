import type { Person } from "./package-facts.ts";

/** Those of a package that is named, its author first; else those whose name and packages have most of the words. */
export function nearestPeople(people: readonly Person[], words: readonly string[]): readonly Person[] {
  const named = people.flatMap((person) => {
    const [role] = person.packages.filter(({ name }) => words.includes(name.toLowerCase()));
    return role ? [{ person, isAuthor: role.role === "author" }] : [];
  });
  if (named.length > 0)
    return named
      .toSorted((left, right) => Number(right.isAuthor) - Number(left.isAuthor))
      .map(({ person }) => person);
  const counted = people.map((person) => ({ person, words: wordsHeld(person, words) }));
  const most = Math.max(...counted.map((one) => one.words), 0);
  return counted.filter((one) => one.words === most).map(({ person }) => person);
}

function wordsHeld({ name, packages }: Person, words: readonly string[]): number {
  const text = [name, ...packages.map((one) => one.name)].join(" ").toLowerCase();
  const held = new Set(text.split(/[^\p{L}\p{N}]+/u));
  return words.filter((word) => word.split(/[^\p{L}\p{N}]+/u).every((part) => held.has(part))).length;
}
