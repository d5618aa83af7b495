import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { isRecord } from "capstan";
import { maskSecrets } from "capstan/logs";
import type { ServerConfig } from "../config/server-config.ts";

/** One JSON-RPC message between Capstan and a server. */
export type TrafficMessage = {
  /** Position since the server was opened, from 1. */
  readonly number: number;
  readonly at: number;
  readonly direction: "sent" | "received";
  /** The message as JSON, with secrets masked. Truncated if it is long. */
  readonly text: string;
  /** Characters of the whole message. */
  readonly size: number;
};

/** The latest messages of one server, in bounded memory. */
export interface Traffic {
  /** Records every message of a transport. Call it before the transport is connected. */
  watch(transport: Transport): void;
  /** Records an incoming message. */
  receive(message: JSONRPCMessage): void;
  /** Returns the messages after this number, oldest first. */
  list(after?: number): readonly TrafficMessage[];
}

export const maxTrafficMessages = 200;
const maxMessageCharacters = 8_000;
/** Longer texts are shortened before the message is serialized, so that a large result costs little. */
const maxTextCharacters = 4_000;
const maxSecretCharacters = 1_000;
const maxItems = 200;
const maxDepth = 32;

/** `secrets` are masked in every text. */
export function createTraffic(secrets: readonly string[]): Traffic {
  const messages: TrafficMessage[] = [];
  const mask = maskSecrets(secrets);
  let count = 0;
  function record(direction: TrafficMessage["direction"], message: JSONRPCMessage): void {
    const size = measure(message);
    const text = mask(JSON.stringify(shortenValue(message, mask)));
    count += 1;
    const shown =
      text.length > maxMessageCharacters ? `${text.slice(0, maxMessageCharacters).toWellFormed()}…` : text;
    messages.push({ number: count, at: Date.now(), direction, text: shown, size });
    if (messages.length > maxTrafficMessages) messages.shift();
  }
  return {
    watch(transport) {
      const send = transport.send.bind(transport);
      transport.send = (message, options) => {
        record("sent", message);
        return send(message, options);
      };
    },
    receive: (message) => record("received", message),
    list: (after = 0) => messages.filter(({ number }) => number > after),
  };
}

const secretName =
  /^(?!progress|next|max)(?:.*[-_a-z])?(?:tokens?|secrets?|passwords?|passphrase|authorization|api[-_]?keys?|credentials?)$/i;

/** Copies a value with long texts and lists cut, and values hidden whose name says that they are secret. */
function shortenValue(value: unknown, mask: (text: string) => string, depth = 0): unknown {
  if (typeof value === "string") return shortenText(value, mask);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= maxDepth) return "…";
  if (Array.isArray(value)) {
    const items = value.slice(0, maxItems).map((item) => shortenValue(item, mask, depth + 1));
    return value.length > maxItems ? [...items, `… (${value.length} items)`] : items;
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      typeof member === "string" && secretName.test(name) ? "***" : shortenValue(member, mask, depth + 1),
    ]),
  );
}

/** Masks before it cuts: the cut must not leave a part of a secret. */
function shortenText(text: string, mask: (text: string) => string): string {
  if (text.length <= maxTextCharacters) return text;
  const start = mask(text.slice(0, maxTextCharacters + maxSecretCharacters)).slice(0, maxTextCharacters);
  return `${start.toWellFormed()}… (${text.length} characters)`;
}

/** Counts the characters of a value as JSON, approximately and without building the text. */
function measure(root: unknown): number {
  let characters = 0;
  const open: unknown[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === "string") characters += value.length + 2;
    else if (Array.isArray(value)) {
      characters += value.length + 1;
      for (const item of value) open.push(item);
    } else if (isRecord(value)) {
      characters += 1;
      for (const [name, member] of Object.entries(value)) {
        characters += name.length + 4;
        open.push(member);
      }
    } else characters += String(value).length;
  }
  return characters;
}

/** Returns the values of a configuration that must not be shown: all headers, and variables with the name of a secret. */
export function listSecrets(config: ServerConfig): readonly string[] {
  const values =
    "command" in config
      ? Object.entries(config.env ?? {}).flatMap(([name, value]) => (secretName.test(name) ? [value] : []))
      : [...Object.values(config.headers ?? {}), config.oauth?.clientSecret ?? ""];
  // The scheme of an `Authorization` header is no secret, and the token alone must be masked too.
  const parts = values.flatMap((value) => value.split(/\s+/));
  return [...new Set(parts)].filter((value) => value.length >= minSecretLength);
}

const minSecretLength = 8;
