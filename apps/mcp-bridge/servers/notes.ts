// An MCP server over stdio that keeps short notes in the file that its argument names. Notes are its resources, too.
import { fromJsonSchema, McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { answer, attempt } from "./answer.ts";
import { type Note, noteFile, search } from "./note-file.ts";

const notes = noteFile(process.argv[2] ?? "notes.json");
const readOnlyHint = { readOnlyHint: true };
const text = { type: "string", minLength: 1 };

serveStdio(() => {
  const server = new McpServer({ name: "notes", version: "1.0.0" });
  addReading(server);
  addWriting(server);
  addResources(server);
  return server;
});

const inWords = (found: readonly Note[], none: string): string =>
  found.map(({ id, text: said }) => `${id}. ${said}`).join("\n") || none;

function addReading(server: McpServer): void {
  const none = fromJsonSchema({
    type: "object",
    properties: {},
    examples: [{ phrase: "what notes do I have" }, { phrase: "list my notes" }, { phrase: "show all notes" }],
  });
  const listing = { description: "Lists all notes.", inputSchema: none, annotations: readOnlyHint };
  server.registerTool("list_notes", listing, () =>
    attempt(() => {
      const all = notes.all();
      return answer(inWords(all, "There are no notes."), { notes: all, count: all.length });
    }),
  );
  const query = fromJsonSchema<{ query: string }>({
    type: "object",
    properties: { query: { ...text, description: "Words that the note has, all of them." } },
    required: ["query"],
    examples: [
      { phrase: "find notes about {query}" },
      { phrase: "search my notes for {query}" },
      { phrase: "what did I note about {query}" },
      { phrase: "is there a note about {query}" },
      { phrase: "do I have a note about {query}" },
      { phrase: "what do my notes say about {query}" },
      { phrase: "where is {query}" },
      { phrase: "where are {query}" },
      { phrase: "where did I put {query}" },
    ],
  });
  const searching = {
    description: "Finds notes by their words.",
    inputSchema: query,
    annotations: readOnlyHint,
  };
  server.registerTool("search_notes", searching, (input) =>
    attempt(() => {
      const found = search(notes.all(), input.query);
      // Whoever looked for something on the web is to know that it was looked for elsewhere.
      const none = `No note has "${input.query}". Only the notes were searched.`;
      return answer(inWords(found, none), { notes: found, count: found.length });
    }),
  );
}

function addWriting(server: McpServer): void {
  const note = fromJsonSchema<{ text: string }>({
    type: "object",
    properties: { text: { ...text, maxLength: 2_000, description: "The note." } },
    required: ["text"],
    examples: [
      { phrase: "note that {text}" },
      { phrase: "remember that {text}" },
      { phrase: "remember to {text}" },
      { phrase: "remind me to {text}" },
      { phrase: "don't forget that {text}" },
      { phrase: "add a note: {text}" },
      { phrase: "write down {text}" },
      { phrase: "jot down {text}" },
      { phrase: "make a note to {text}" },
      { phrase: "make a note that {text}" },
      { phrase: "make a note of {text}" },
      { phrase: "take a note: {text}" },
      { phrase: "add a note saying {text}" },
    ],
  });
  const adding = { description: "Adds a note.", inputSchema: note, annotations: { destructiveHint: false } };
  server.registerTool("add_note", adding, (input) =>
    attempt(() => {
      const { id, text: said } = notes.add(input.text);
      return answer(`Noted as ${id}: ${said}`, { id, text: said });
    }),
  );
  const which = fromJsonSchema<{ id: number }>({
    type: "object",
    properties: { id: { type: "integer", description: "Of the note, as it is listed." } },
    required: ["id"],
    examples: [
      { phrase: "delete note {id}" },
      { phrase: "remove note {id}" },
      { phrase: "forget note {id}" },
      { phrase: "delete note number {id}" },
      { phrase: "delete the note about {id}" },
      { phrase: "remove the note about {id}" },
    ],
  });
  const deleting = {
    description: "Deletes a note.",
    inputSchema: which,
    annotations: { destructiveHint: true },
  };
  server.registerTool("delete_note", deleting, ({ id }) =>
    attempt(() => {
      const gone = notes.remove(id);
      if (!gone) throw new Error(`There is no note ${id}. List the notes to see which there are.`);
      return answer(`Deleted note ${id}: ${gone.text}`, { id });
    }),
  );
}

function addResources(server: McpServer): void {
  const asResource = ({ id, text: said }: Note) => ({
    uri: `note:///${id}`,
    name: `note-${id}`,
    title: said.length > 60 ? `${said.slice(0, 60)}…` : said,
    description: said.slice(0, 500),
    mimeType: "text/plain",
  });
  const template = new ResourceTemplate("note:///{id}", {
    list: () => ({ resources: notes.all().map(asResource) }),
  });
  server.registerResource("note", template, { mimeType: "text/plain" }, (uri, { id }) => {
    const note = notes.all().find((one) => String(one.id) === id);
    if (!note) throw new Error(`There is no note ${id}.`);
    return { contents: [{ uri: uri.href, mimeType: "text/plain", text: note.text }] };
  });
}
