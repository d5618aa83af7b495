// An MCP server over stdio that converts units and times of day. It needs no network and stores nothing.
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { convert, listUnits } from "./convert.ts";
import { convertTime, getTimeIn } from "./time-zones.ts";
import { catchErrors, createToolResult } from "./tool-result.ts";

const text = { type: "string" };
const readOnlyHint = { readOnlyHint: true };

serveStdio(() => {
  const server = new McpServer({ name: "units", version: "1.0.0" });
  addUnitTools(server);
  addTimeTools(server);
  return server;
});

function addUnitTools(server: McpServer): void {
  const input = fromJsonSchema<{ value: number; from: string; to: string }>({
    type: "object",
    properties: {
      value: { type: "number", description: "The amount to convert." },
      from: {
        ...text,
        description: "The source unit, such as km, lb, celsius. A second part can follow: feet 3 inches.",
      },
      to: { ...text, description: "The target unit." },
    },
    required: ["value", "from", "to"],
  });
  const about = "Converts between units of length, mass, volume, time, speed, data and temperature.";
  server.registerTool(
    "convert",
    {
      description: about,
      inputSchema: input,
      _meta: {
        "capstan/examples": [
          { phrase: "convert {value} {from} to {to}" },
          { phrase: "how many {to} are {value} {from}" },
          { phrase: "how much is {value} {from} in {to}" },
          { phrase: "what is {value} {from} in {to}" },
          { phrase: "how tall is {value} {from} in {to}" },
          { phrase: "convert {value} degrees {from} to {to}" },
          { phrase: "convert {value} {from} into {to}" },
          { phrase: "convert {value} degrees {from} into {to}" },
          { phrase: "{value} {from} in {to}" },
          { phrase: "{value} {from} to {to}" },
          { phrase: "how many {to} are in a {from}", input: { value: 1 } },
          { phrase: "how many {to} does a {from} have", input: { value: 1 } },
          { phrase: "is {value} {from} more than {amount} {to}" },
          { phrase: "is {value} {from} less than {amount} {to}" },
          { phrase: "how hot is {value} fahrenheit", input: { from: "fahrenheit", to: "celsius" } },
          { phrase: "how cold is {value} fahrenheit", input: { from: "fahrenheit", to: "celsius" } },
          { phrase: "how hot is {value} celsius", input: { from: "celsius", to: "fahrenheit" } },
          { phrase: "how cold is {value} celsius", input: { from: "celsius", to: "fahrenheit" } },
        ],
      },
      annotations: readOnlyHint,
    },
    ({ value, from, to }) =>
      catchErrors(() => {
        const { message, ...data } = convert(value, from, to);
        return createToolResult(message, data);
      }),
  );
  const none = fromJsonSchema({
    type: "object",
    properties: {},
  });
  const listing = {
    description: "Lists the units that can be converted.",
    inputSchema: none,
    _meta: {
      "capstan/examples": [
        { phrase: "which units do you know" },
        { phrase: "list the units" },
        { phrase: "what can you convert" },
      ],
    },
  };
  server.registerTool("list_units", { ...listing, annotations: readOnlyHint }, () =>
    createToolResult(formatUnits(), listUnits()),
  );
  const resource = {
    title: "Units",
    description: "The known units of length, mass, volume and more.",
  };
  server.registerResource("units", "units:///all", { ...resource, mimeType: "text/plain" }, () => ({
    contents: [{ uri: "units:///all", mimeType: "text/plain", text: formatUnits() }],
  }));
}

const formatUnits = (): string =>
  Object.entries(listUnits())
    .map(([quantity, units]) => `${quantity}: ${units.join(", ")}`)
    .join("\n");

function addTimeTools(server: McpServer): void {
  const place = fromJsonSchema<{ place: string }>({
    type: "object",
    properties: {
      place: { ...text, description: "A city that names a time zone, or the zone: Tokyo, Europe/Oslo." },
    },
    required: ["place"],
  });
  const now = {
    description: "Returns the current time in a place.",
    inputSchema: place,
    _meta: {
      "capstan/examples": [
        { phrase: "what time is it in {place}" },
        { phrase: "what's the time in {place}" },
        { phrase: "current time in {place}" },
        { phrase: "what time is it in {place} right now" },
        { phrase: "what's the time in {place} right now" },
      ],
    },
  };
  server.registerTool("time_in", { ...now, annotations: readOnlyHint }, (input) =>
    catchErrors(() => {
      const { message, time } = getTimeIn(input.place, Date.now());
      return createToolResult(message, { time });
    }),
  );
  const elsewhere = fromJsonSchema<{ time: string; from: string; to: string; day?: string }>({
    type: "object",
    properties: {
      time: { ...text, description: "The time of day, such as 15:30 or 3 pm." },
      from: { ...text, description: "The place of the given time." },
      to: { ...text, description: "The place to convert to." },
      day: { ...text, description: "The date, such as 2026-03-01. Defaults to today." },
    },
    required: ["time", "from", "to"],
  });
  const converting = {
    description: "Converts a time of day from one place to another.",
    inputSchema: elsewhere,
    _meta: {
      "capstan/examples": [
        { phrase: "when it is {time} in {from} what time is it in {to}" },
        { phrase: "it is {time} in {from}, what time is it in {to}" },
        { phrase: "it is {time} in {from}, what is the time in {to}" },
        { phrase: "if it is {time} in {from} what time is it in {to}" },
        { phrase: "what is {time} in {from} for people in {to}" },
        { phrase: "{time} {from} time in {to}" },
        { phrase: "what is {time} {from} time in {to} on {day}" },
      ],
    },
  };
  server.registerTool("convert_time", { ...converting, annotations: readOnlyHint }, (input) =>
    catchErrors(() => {
      const day = input.day ?? new Date().toISOString().slice(0, 10);
      const { message, time } = convertTime({ time: input.time, day }, input.from, input.to);
      return createToolResult(message, { time });
    }),
  );
}
