import { expect, it } from "vitest";
import { formatCommand } from "./format-command.ts";

it.each([
  [
    "/usr/local/bin/node",
    ["--conditions=source", "/home/ada/servers/weather.ts", "--key", "k3y"],
    "node weather.ts",
  ],
  ["npx", ["-y", "@acme/weather", "--token", "s3cret"], "npx @acme/weather"],
  ["C:\\tools\\node.exe", ["C:\\servers\\weather.js"], "node weather.js"],
  ["python3", ["-m", "weather_server"], "python3 weather_server"],
  ["uv", ["run", "weather.py"], "uv weather.py"],
  ["npm", ["run", "mcp"], "npm mcp"],
])("a server is named by what its command starts: %s %j", (command, args, name) => {
  expect(formatCommand({ command, args })).toBe(name);
});

it.each([
  ["weather-server", ["s3cret"], "weather-server"],
  ["sh", ["-c", "TOKEN=s3cret weather"], "sh"],
  ["node", ["--env-file", "s3cret"], "node"],
  ["node", ["-e", "connect('s3cret')"], "node"],
  ["npx", ["--token", "s3cret", "weather"], "npx"],
  ["node", undefined, "node"],
])("no other argument is named, because it may be a secret: %s %j", (command, args, name) => {
  expect(formatCommand({ command, args })).toBe(name);
});
