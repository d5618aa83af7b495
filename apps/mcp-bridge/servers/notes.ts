// An MCP server over stdio that stores short notes in the file given as its argument. Notes are also resources.
import { fromJsonSchema, McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { type Note, openNoteFile, searchNotes } from "./note-file.ts";
import { catchErrors, createToolResult } from "./tool-result.ts";

const notes = openNoteFile(process.argv[2] ?? "notes.json");
const readOnlyHint = { readOnlyHint: true };
const text = { type: "string", minLength: 1 };

serveStdio(() => {
  const server = new McpServer({ name: "notes", version: "1.0.0" });
  addReadTools(server);
  addWriteTools(server);
  addResources(server);
  return server;
});

const formatNotes = (found: readonly Note[], none: string): string =>
  found.map(({ id, text: noteText }) => `${id}. ${noteText}`).join("\n") || none;

function addReadTools(server: McpServer): void {
  const none = fromJsonSchema({
    type: "object",
    properties: {},
  });
  const listing = {
    description: "Lists all notes.",
    inputSchema: none,
    _meta: {
      "capstan/examples": [
        { phrase: "what notes do I have" },
        { phrase: "list my notes" },
        { phrase: "show all notes" },
        { phrase: "how many notes do I have" },
        { phrase: "how many notes are there" },
      ],
    },
    annotations: readOnlyHint,
  };
  server.registerTool("list_notes", listing, () =>
    catchErrors(() => {
      const all = notes.list();
      return createToolResult(formatNotes(all, "There are no notes."), { notes: all, count: all.length });
    }),
  );
  const query = fromJsonSchema<{ query: string }>({
    type: "object",
    properties: { query: { ...text, description: "Words that the note must contain." } },
    required: ["query"],
  });
  const searching = {
    description: "Finds notes by their words.",
    inputSchema: query,
    _meta: {
      "capstan/examples": [
        { phrase: "find notes about {query}" },
        { phrase: "search my notes for {query}" },
        { phrase: "what did I note about {query}" },
        { phrase: "is there a note about {query}" },
        { phrase: "do I have a note about {query}" },
        { phrase: "what do my notes say about {query}" },
        { phrase: "where is {query}" },
        { phrase: "where are {query}" },
        { phrase: "where did I put {query}" },
        { phrase: "when is {query}" },
        { phrase: "what should I {query}" },
        { phrase: "what do I have to {query}" },
      ],
    },
    annotations: readOnlyHint,
  };
  server.registerTool("search_notes", searching, (input) =>
    catchErrors(() => {
      const found = searchNotes(notes.list(), input.query);
      // The user may have meant the web, so say what was searched.
      const none = `No note contains "${input.query}". Only the notes were searched.`;
      return createToolResult(formatNotes(found, none), { notes: found, count: found.length });
    }),
  );
}

function addWriteTools(server: McpServer): void {
  const note = fromJsonSchema<{ text: string }>({
    type: "object",
    properties: { text: { ...text, maxLength: 2_000, description: "The note." } },
    required: ["text"],
  });
  const adding = {
    description: "Adds a note.",
    inputSchema: note,
    _meta: {
      "capstan/examples": [
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
    },
    annotations: { destructiveHint: false },
  };
  server.registerTool("add_note", adding, (input) =>
    catchErrors(() => {
      const { id, text: noteText } = notes.add(input.text);
      return createToolResult(`Noted as ${id}: ${noteText}`, { id, text: noteText });
    }),
  );
  const which = fromJsonSchema<{ id: number }>({
    type: "object",
    properties: { id: { type: "integer", description: "The id of the note, as listed." } },
    required: ["id"],
  });
  const deleting = {
    description: "Deletes a note.",
    inputSchema: which,
    _meta: {
      "capstan/examples": [
        { phrase: "delete note {id}" },
        { phrase: "remove note {id}" },
        { phrase: "forget note {id}" },
        { phrase: "delete note number {id}" },
        { phrase: "delete the note about {id}" },
        { phrase: "remove the note about {id}" },
        { phrase: "delete the {id} note" },
        { phrase: "I no longer need the {id} note" },
        { phrase: "the {id} note can go" },
      ],
    },
    annotations: { destructiveHint: true },
  };
  server.registerTool("delete_note", deleting, ({ id }) =>
    catchErrors(() => {
      const deletedNote = notes.remove(id);
      if (!deletedNote) throw new Error(`Note ${id} not found. List the notes to see their ids.`);
      return createToolResult(`Deleted note ${id}: ${deletedNote.text}`, { id });
    }),
  );
}

function addResources(server: McpServer): void {
  const toResource = ({ id, text: noteText }: Note) => ({
    uri: `note:///${id}`,
    name: `note-${id}`,
    title: noteText.length > 60 ? `${noteText.slice(0, 60)}…` : noteText,
    description: noteText.slice(0, 500),
    mimeType: "text/plain",
  });
  const template = new ResourceTemplate("note:///{id}", {
    list: () => ({ resources: notes.list().map(toResource) }),
  });
  server.registerResource("note", template, { mimeType: "text/plain" }, (uri, { id }) => {
    const note = notes.list().find((candidate) => String(candidate.id) === id);
    if (!note) throw new Error(`Note ${id} not found.`);
    return { contents: [{ uri: uri.href, mimeType: "text/plain", text: note.text }] };
  });
}
