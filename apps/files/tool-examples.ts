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
      { phrase: `${language} files`, input },
    ];
  },
);

const examplesByTool: { readonly [tool: string]: readonly ToolExample[] } = {
  list_files: [
    ...languageExamples,
    { phrase: "what is here" },
    { phrase: "what do you have" },
    { phrase: "count the files", input: { glob: "**" } },
    { phrase: "what is in the {path} folder" },
    { phrase: "list the files in the {path} folder" },
    { phrase: "what files are in the {path} folder" },
  ],
  read_file: [
    { phrase: "how long is {path}" },
    { phrase: "how many lines does {path} have" },
    { phrase: "what does {path} do" },
    { phrase: "which {parts} are defined in {path}" },
    { phrase: "which {parts} are in {path}" },
    { phrase: "the first {lines} lines of {path}" },
    { phrase: "lines {from} to {to} of {path}" },
  ],
  search_files: [
    { phrase: "where is {query} set" },
    { phrase: "where is {query} defined" },
    { phrase: "is {query} on" },
    { phrase: "is {query} mode on" },
    { phrase: "is {query} off" },
    { phrase: "is {query} enabled" },
  ],
  edit_file: [
    {
      phrase: "change the {setting} from {find} to {replace}",
      input: { edits: [{ find: "{find}", replace: "{replace}" }] },
    },
    {
      phrase: "turn {setting} on",
      input: { edits: [{ find: '"{setting}": false', replace: '"{setting}": true' }] },
    },
    {
      phrase: "turn {setting} off",
      input: { edits: [{ find: '"{setting}": true', replace: '"{setting}": false' }] },
    },
    {
      phrase: "in {path} say {replace} instead of {find}",
      input: { edits: [{ find: "{find}", replace: "{replace}" }] },
    },
    {
      phrase: "in {path} write {replace} instead of {find}",
      input: { edits: [{ find: "{find}", replace: "{replace}" }] },
    },
  ],
  write_file: [
    { phrase: "create a new file called {path} that says {content}" },
    { phrase: "create a new file {path} with {content}" },
    { phrase: "make a new file called {path} that says {content}" },
    { phrase: "create {path} containing {content}" },
    { phrase: "create {path} that says {content}" },
    { phrase: "create a file called {path} that says {content}" },
    { phrase: "create a file called {path} with {content}" },
    { phrase: "create a file named {path} that says {content}" },
    { phrase: "make a file called {path} that says {content}" },
    { phrase: "make a file {path} that says {content}" },
  ],
};

/** Adds examples to a tool. */
export function withExamples(tool: Tool): Tool {
  const examples = [...(tool.examples ?? []), ...(examplesByTool[tool.name] ?? [])];
  return { ...tool, examples };
}
