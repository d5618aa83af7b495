import type { Person } from "./package-facts.ts";

/** Returns the people of a named package, author first; otherwise the people with the most matching words. */
export function rankPeople(people: readonly Person[], words: readonly string[]): readonly Person[] {
  const named = people.flatMap((person) => {
    const [role] = person.packages.filter(({ name }) => words.includes(name.toLowerCase()));
    return role ? [{ person, isAuthor: role.role === "author" }] : [];
  });
  if (named.length > 0)
    return named
      .toSorted((left, right) => Number(right.isAuthor) - Number(left.isAuthor))
      .map(({ person }) => person);
  const scoredPeople = people.map((person) => ({ person, matches: countMatches(person, words) }));
  const maxMatches = Math.max(...scoredPeople.map(({ matches }) => matches), 0);
  return scoredPeople.filter(({ matches }) => matches === maxMatches).map(({ person }) => person);
}

function countMatches({ name, packages }: Person, words: readonly string[]): number {
  const text = [name, ...packages.map((entry) => entry.name)].join(" ").toLowerCase();
  const ownWords = new Set(text.split(/[^\p{L}\p{N}]+/u));
  return words.filter((word) => word.split(/[^\p{L}\p{N}]+/u).every((part) => ownWords.has(part))).length;
}
