// An MCP server over stdio that converts units and times of day. It needs no network and keeps nothing.
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { answer, attempt } from "./answer.ts";
import { convert, unitNames } from "./convert.ts";
import { timeElsewhere, timeIn } from "./time-zones.ts";

const text = { type: "string" };
const readOnlyHint = { readOnlyHint: true };

serveStdio(() => {
  const server = new McpServer({ name: "units", version: "1.0.0" });
  addUnits(server);
  addTimes(server);
  return server;
});

function addUnits(server: McpServer): void {
  const input = fromJsonSchema<{ value: number; from: string; to: string }>({
    type: "object",
    properties: {
      value: { type: "number", description: "How much." },
      from: { ...text, description: "The unit it is in, such as km, lb, celsius." },
      to: { ...text, description: "The unit that is wanted." },
    },
    required: ["value", "from", "to"],
    // What a person might say. Clients that do not know these skip them.
    examples: [
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
    ],
  });
  const about = "Converts between units of length, mass, volume, time, speed, data and temperature.";
  server.registerTool(
    "convert",
    { description: about, inputSchema: input, annotations: readOnlyHint },
    ({ value, from, to }) =>
      attempt(() => {
        const { message, ...data } = convert(value, from, to);
        return answer(message, data);
      }),
  );
  const none = fromJsonSchema({
    type: "object",
    properties: {},
    examples: [
      { phrase: "which units do you know" },
      { phrase: "list the units" },
      { phrase: "what can you convert" },
    ],
  });
  const listing = { description: "Lists the units that can be converted.", inputSchema: none };
  server.registerTool("list_units", { ...listing, annotations: readOnlyHint }, () =>
    answer(unitsInWords(), unitNames()),
  );
  const resource = {
    title: "Units",
    description: "The units of length, mass, volume and more that are known.",
  };
  server.registerResource("units", "units:///all", { ...resource, mimeType: "text/plain" }, () => ({
    contents: [{ uri: "units:///all", mimeType: "text/plain", text: unitsInWords() }],
  }));
}

const unitsInWords = (): string =>
  Object.entries(unitNames())
    .map(([quantity, units]) => `${quantity}: ${units.join(", ")}`)
    .join("\n");

function addTimes(server: McpServer): void {
  const place = fromJsonSchema<{ place: string }>({
    type: "object",
    properties: {
      place: { ...text, description: "A city that names a time zone, or the zone: Tokyo, Europe/Oslo." },
    },
    required: ["place"],
    examples: [
      { phrase: "what time is it in {place}" },
      { phrase: "what's the time in {place}" },
      { phrase: "current time in {place}" },
      { phrase: "what time is it in {place} right now" },
      { phrase: "what's the time in {place} right now" },
    ],
  });
  const now = { description: "Tells what time it is now in a place.", inputSchema: place };
  server.registerTool("time_in", { ...now, annotations: readOnlyHint }, (input) =>
    attempt(() => {
      const { message, time } = timeIn(input.place, Date.now());
      return answer(message, { time });
    }),
  );
  const elsewhere = fromJsonSchema<{ time: string; from: string; to: string; day?: string }>({
    type: "object",
    properties: {
      time: { ...text, description: "The time of day, such as 15:30 or 3 pm." },
      from: { ...text, description: "The place whose time it is." },
      to: { ...text, description: "The place whose time is wanted." },
      day: { ...text, description: "Of that time, such as 2026-03-01. Left out: today." },
    },
    required: ["time", "from", "to"],
    examples: [
      { phrase: "when it is {time} in {from} what time is it in {to}" },
      { phrase: "if it is {time} in {from} what time is it in {to}" },
      { phrase: "what is {time} in {from} for people in {to}" },
      { phrase: "{time} {from} time in {to}" },
      { phrase: "what is {time} {from} time in {to} on {day}" },
    ],
  });
  const converting = {
    description: "Tells what a time of day in one place is in another.",
    inputSchema: elsewhere,
  };
  server.registerTool("convert_time", { ...converting, annotations: readOnlyHint }, (input) =>
    attempt(() => {
      const day = input.day ?? new Date().toISOString().slice(0, 10);
      const { message, time } = timeElsewhere({ time: input.time, day }, input.from, input.to);
      return answer(message, { time });
    }),
  );
}
