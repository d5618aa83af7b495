// A whole app in one file. In apps/ each part has a file of its own: agent.ts, talks.ts, README.md.
import { type Agent, defineAgent, defineTool, type Model, type PolicyOverrides, run } from "capstan";
import { defaultModel, offline } from "capstan/models";
import { z } from "zod";

/** How the studio introduces it. The suggestions work without a key. */
export const about = {
  title: "Library",
  description: "Knows which books are on the shelf.",
  suggestions: ["Do you have the book Persuasion?", "Where is the book Moby-Dick?"],
} as const;

export const policy: PolicyOverrides = { maxTurns: 6, onLimit: ["clarify", "best-effort"] };

const shelf = [
  { title: "Persuasion", place: "A 3" },
  { title: "Moby-Dick", place: "C 1" },
];

const findBook = defineTool({
  name: "find_book",
  description: "Finds a book on the shelf by its title",
  input: z.object({ title: z.string() }),
  examples: [{ phrase: "do you have the book {title}" }, { phrase: "where is the book {title}" }],
  effects: "none",
  reads: ["public"],
  execute({ title }) {
    const book = shelf.find((one) => one.title.toLowerCase() === title.toLowerCase());
    return book
      ? { message: `"${book.title}" is on shelf ${book.place}.`, data: book }
      : { message: `There is no book "${title}".`, data: { found: 0 } };
  },
});

/** An agent for the books of a library. */
export async function library(options: { readonly model?: Model | string } = {}): Promise<Agent> {
  const { model = await defaultModel() } = options;
  return defineAgent({
    name: "library",
    model,
    instructions: "You are a librarian. Say only what the tools told you.",
    tools: [findBook],
    policy,
  });
}

/** What people say, and what must come of it: written first, and from their point of view. */
export const talks = [
  { user: "Do you have the book Persuasion?", calls: "find_book", answers: "A 3" },
  { user: "where is the book moby-dick", calls: "find_book", answers: "C 1" },
] as const;

const agent = await library({ model: offline() });
for (const { user, calls, answers } of talks) {
  const { text, toolCalls } = await run(agent, user);
  const isRight = toolCalls.map(({ name }) => name).join() === calls && text.includes(answers);
  console.log(`${isRight ? "ok" : "WRONG"}: ${user}`);
}
