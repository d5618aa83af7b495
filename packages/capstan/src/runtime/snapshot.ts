// A state as JSON text. Maps, sets and sharing survive: the fold compares some objects by identity (the question of a
// run is an entry of its history) and changes others through several paths (a call that handed off, the ids that a
// nested run shares with its parent). The text is `[shared, state]`, where `shared` has every object and every long text
// that occurs more than once. An object with the key `$` encodes another value: `["ref", index]` a shared value,
// `["map", entries]` a map, `["set", items]` a set, `["object", members]` an object that has a key `$` itself.

import { isRecord } from "../base/json.ts";
import { factVersion } from "../kernel/event.ts";
import type { State } from "../kernel/state.ts";

/** Raise it when the same facts fold to another state. */
const stateVersion = 4;

/**
 * Version of the text. Snapshots of other versions are ignored. It contains the version of the facts, so that facts of a
 * newer version are never hidden behind a snapshot.
 */
export const snapshotVersion: number = factVersion * 1_000 + stateVersion;

/** Shorter texts are repeated, because a reference would not be shorter. */
const minSharedLength = 256;

/** Serializes a state, without `undefined` members. */
export function serializeState(state: State): string {
  const shared = findShared(state);
  const encode = (value: unknown): unknown => {
    if (!isShareable(value)) return value;
    const index = shared.get(value);
    return index === undefined ? encodeContent(value) : { $: ["ref", index] };
  };
  const encodeContent = (value: unknown): unknown => {
    if (value instanceof Map) return { $: ["map", [...value].map(([key, item]) => [key, encode(item)])] };
    if (value instanceof Set) return { $: ["set", [...value].map(encode)] };
    if (Array.isArray(value)) return value.map(encode);
    return isRecord(value) ? encodeMembers(value, encode) : value;
  };
  return JSON.stringify([[...shared.keys()].map(encodeContent), encode(state)]);
}

/** Returns the object itself if no member changes: most of a state is plain data. */
function encodeMembers(members: Record<string, unknown>, encode: (value: unknown) => unknown): unknown {
  let encoded = members;
  for (const key of Object.keys(members)) {
    const member = members[key];
    const next = encode(member);
    if (next === member) continue;
    if (encoded === members) encoded = { ...members };
    encoded[key] = next;
  }
  return Object.hasOwn(members, "$") ? { $: ["object", encoded] } : encoded;
}

/** Parses a state from `serializeState`. Throws for any other text. */
export function parseState(text: string): State {
  const [shared, root]: [unknown[], unknown] = JSON.parse(text);
  // Created before they are filled, because they may refer to each other.
  const values = shared.map(createValue);
  const decode = (node: unknown): unknown => {
    if (typeof node !== "object" || node === null) return node;
    const tag = findTag(node);
    return tag?.[0] === "ref" ? values[Number(tag[1])] : fillValue(createValue(node), node, decode);
  };
  for (const [index, node] of shared.entries()) fillValue(values[index], node, decode);
  return decode(root) as State;
}

/** Finds the values that are reachable in more than one way, and numbers them. */
function findShared(root: unknown): Map<unknown, number> {
  const seen = new Set<unknown>();
  const shared = new Map<unknown, number>();
  const visit = (value: unknown): void => {
    if (!isShareable(value)) return;
    if (seen.has(value)) {
      if (!shared.has(value)) shared.set(value, shared.size);
      return;
    }
    seen.add(value);
    if (typeof value !== "object" || value === null) return;
    const isCollection = value instanceof Map || value instanceof Set;
    for (const child of isCollection ? value.values() : Object.values(value)) visit(child);
  };
  visit(root);
  return shared;
}

function isShareable(value: unknown): boolean {
  return typeof value === "string"
    ? value.length >= minSharedLength
    : typeof value === "object" && value !== null;
}

type Tag = readonly [type: string, content: unknown];

function findTag(node: unknown): Tag | undefined {
  return isRecord(node) && Object.hasOwn(node, "$") ? (node.$ as Tag) : undefined;
}

/** Creates the value of a node: an empty collection, or the parsed object itself, whose members are replaced later. */
function createValue(node: unknown): unknown {
  const tag = findTag(node);
  if (!tag) return node;
  if (tag[0] === "map") return new Map();
  return tag[0] === "set" ? new Set() : tag[1];
}

function fillValue(value: unknown, node: unknown, decode: (node: unknown) => unknown): unknown {
  if (value instanceof Map)
    for (const [key, item] of findTag(node)?.[1] as [unknown, unknown][]) value.set(key, decode(item));
  else if (value instanceof Set) for (const item of findTag(node)?.[1] as unknown[]) value.add(decode(item));
  else if (Array.isArray(value))
    for (let index = 0; index < value.length; index++) value[index] = decode(value[index]);
  else if (isRecord(value))
    for (const key of Object.keys(value)) {
      const member = decode(value[key]);
      if (member !== value[key]) value[key] = member;
    }
  return value;
}
