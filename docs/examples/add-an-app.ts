// A complete app in one file. In apps/ each part has its own file: agent.ts, conversations.ts, README.md.
import { type Agent, defineAgent, defineTool, type Model, type PolicyOverrides, run } from "capstan";
import { defaultModel, offline } from "capstan/models";
import { z } from "zod";

/** How the studio presents the app. The suggestions work without an API key. */
export const about = {
  title: "Library",
  description: "Finds books on the shelf.",
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
    const book = shelf.find((entry) => entry.title.toLowerCase() === title.toLowerCase());
    return book
      ? { message: `"${book.title}" is on shelf ${book.place}.`, data: book }
      : { message: `No book found with the title "${title}".`, data: { found: 0 } };
  },
});

/** Creates an agent that finds books in a library. */
export async function library(options: { readonly model?: Model | string } = {}): Promise<Agent> {
  const { model = await defaultModel() } = options;
  return defineAgent({
    name: "library",
    model,
    instructions: "You are a librarian. Report only what the tools return.",
    tools: [findBook],
    policy,
  });
}

/** User messages with the expected calls and answers. Write these first. */
export const conversations = [
  { user: "Do you have the book Persuasion?", calls: "find_book", answers: "A 3" },
  { user: "where is the book moby-dick", calls: "find_book", answers: "C 1" },
] as const;

const agent = await library({ model: offline() });
for (const { user, calls, answers } of conversations) {
  const { text, toolCalls } = await run(agent, user);
  const isExpected = toolCalls.map(({ name }) => name).join() === calls && text.includes(answers);
  console.log(`${isExpected ? "ok" : "WRONG"}: ${user}`);
}
