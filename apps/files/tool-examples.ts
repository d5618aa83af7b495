// More example phrases for the file tools: names of languages, and other wordings of the same request.
import type { Tool, ToolExample } from "capstan";

/** Languages whose name differs from the file extension. */
const fileExtensions: { readonly [language: string]: string } = {
  python: "py",
  typescript: "ts",
  javascript: "js",
  markdown: "md",
  text: "txt",
  ruby: "rb",
  rust: "rs",
  shell: "sh",
};

const languageExamples: readonly ToolExample[] = Object.entries(fileExtensions).flatMap(
  ([language, extension]) => {
    const input = { glob: `*.${extension}` };
    return [
      { phrase: `list all ${language} files`, input },
      { phrase: `how many ${language} files are there`, input },
      { phrase: `are there any ${language} files`, input },
    ];
  },
);

const examplesByTool: { readonly [tool: string]: readonly ToolExample[] } = {
  list_files: [
    ...languageExamples,
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

/** Adds examples to a tool. The model reads them in the tool's schema. */
export function withExamples(tool: Tool): Tool {
  const examples = [...(tool.examples ?? []), ...(examplesByTool[tool.name] ?? [])];
  const { schema } = tool;
  return { ...tool, examples, schema: { ...schema, json: { ...schema.json, examples } } };
}
