// What people say to the tools for files beside what these know by themselves: the names of languages, and other words
// for the same wish.
import type { Tool, ToolExample } from "capstan";

/** Languages whose name is not how their files end. */
const endings: { readonly [language: string]: string } = {
  python: "py",
  typescript: "ts",
  javascript: "js",
  markdown: "md",
  text: "txt",
  ruby: "rb",
  rust: "rs",
  shell: "sh",
};

const ofLanguages: readonly ToolExample[] = Object.entries(endings).flatMap(([language, ending]) => {
  const input = { glob: `*.${ending}` };
  return [
    { phrase: `list all ${language} files`, input },
    { phrase: `how many ${language} files are there`, input },
    { phrase: `are there any ${language} files`, input },
  ];
});

const said: { readonly [tool: string]: readonly ToolExample[] } = {
  list_files: [
    ...ofLanguages,
    { phrase: "what is in the {path} folder" },
    { phrase: "list the files in the {path} folder" },
    { phrase: "what files are in the {path} folder" },
  ],
  write_file: [
    { phrase: "create {path} containing {content}" },
    { phrase: "create {path} that says {content}" },
    { phrase: "create a file called {path} that says {content}" },
    { phrase: "create a file called {path} with {content}" },
    { phrase: "create a file named {path} that says {content}" },
    { phrase: "make a file called {path} that says {content}" },
  ],
};

/** The same tool, which understands more. The model reads its examples in its schema. */
export function withWords(tool: Tool): Tool {
  const examples = [...(tool.examples ?? []), ...(said[tool.name] ?? [])];
  const { schema } = tool;
  return { ...tool, examples, schema: { ...schema, json: { ...schema.json, examples } } };
}
