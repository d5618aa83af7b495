import type { Json } from "../base/json.ts";
import type { Policy } from "../kernel/policy.ts";

/**
 * Describes the values that a part of a session file may have, and how an import rebuilds them. Plain data, so that one
 * table checks a file, rebuilds its facts, and forges files in tests.
 */
export type Shape<Value = unknown> = ShapeData & { readonly valueType?: Value };

type ShapeData =
  | { readonly type: "string"; readonly hint: string; accepts(value: string): boolean }
  | { readonly type: "number"; readonly hint: string; accepts(value: number): boolean }
  | { readonly type: "boolean" }
  | { readonly type: "json" }
  | { readonly type: "choice"; readonly choices: readonly (string | boolean)[] }
  | { readonly type: "array"; readonly item: Shape }
  | { readonly type: "record"; readonly item: Shape }
  | { readonly type: "object"; readonly fields: FieldTable; readonly isOpen: boolean }
  | { readonly type: "variants"; readonly variants: { readonly [type: string]: Shape } }
  | { readonly type: "either"; readonly shapes: readonly Shape[] }
  | { readonly type: "dropped"; readonly shape: Shape };

export type FieldTable = { readonly [name: string]: Field };

/** A field that an import keeps, drops or replaces. */
export type Field = Kept<unknown, boolean> | Dropped<unknown> | Replaced<unknown, boolean>;

type Kept<Value, IsOptional> = {
  readonly action: "keep";
  readonly shape: Shape<Value>;
  readonly isOptional: IsOptional;
};
export type Dropped<Value> = { readonly action: "drop"; readonly shape: Shape<Value> };
export type Replaced<Value, IsOptional> = {
  readonly action: "replace";
  readonly shape: Shape<Value>;
  readonly isOptional: IsOptional;
  readonly build: Build<Value>;
};

/** Builds the value of a field from the value in the file. */
type Build<Value> = (value: unknown, context: RebuildContext) => Value;

/** A row for each field of a type: a new field does not compile until it has one. */
export type Fields<Body> = {
  readonly [Name in keyof Body]-?: object extends Pick<Body, Name>
    ? Kept<Body[Name], true> | Dropped<Body[Name]> | Replaced<Body[Name], true>
    : Kept<Body[Name], false> | Replaced<Body[Name], false>;
};

/** The fact that is rebuilt, as it is in the file, and the deployment that imports it. */
export type RebuildContext = {
  readonly fact: { readonly [field: string]: unknown };
  readonly deployment: ImportingDeployment;
};

/** The deployment that imports a file. Its agents and policies replace those in the file. */
export interface ImportingDeployment {
  readonly now: number;
  /** Returns the name of the agent that continues the runs of an agent in the file. */
  getAgentName(name: string): string;
  /** Returns the policy of that agent's runs. */
  getPolicy(name: string): Policy;
}

/** Keeps a required field. */
export function keep<Value>(shape: Shape<Value>): Kept<Value, false> {
  return { action: "keep", shape, isOptional: false };
}

/** Keeps an optional field. */
export function keepOptional<Value>(shape: Shape<Value>): Kept<Value, true> {
  return { action: "keep", shape, isOptional: true };
}

/** Checks an optional field and leaves it out. */
export function drop<Value>(shape: Shape<Value>): Dropped<Value> {
  return { action: "drop", shape };
}

/** Checks a required field and builds another value. */
export function replace<Value>(shape: Shape<Value>, build: Build<Value>): Replaced<Value, false> {
  return { action: "replace", shape, isOptional: false, build };
}

/** Checks an optional field and builds its value, also if it is missing. */
export function replaceOptional<Value>(shape: Shape<Value>, build: Build<Value>): Replaced<Value, true> {
  return { action: "replace", shape, isOptional: true, build };
}

export const string: Shape<string> = { type: "string", hint: "a string", accepts: () => true };
export const boolean: Shape<boolean> = { type: "boolean" };
export const json: Shape<Json> = { type: "json" };

/** JSON can hold numbers that overflow to infinity. */
export const number: Shape<number> = { type: "number", hint: "a number", accepts: Number.isFinite };
export const amount: Shape<number> = {
  ...{ type: "number", hint: "a number that is not negative" },
  accepts: (value: number) => Number.isFinite(value) && value >= 0,
};
export const count: Shape<number> = {
  ...{ type: "number", hint: "a non-negative integer" },
  accepts: (value: number) => Number.isSafeInteger(value) && value >= 0,
};

export function choice<const Value extends string | boolean>(...choices: readonly Value[]): Shape<Value> {
  return { type: "choice", choices };
}

export function array<Value>(item: Shape<Value>): Shape<readonly Value[]> {
  return { type: "array", item };
}

/** An object with arbitrary keys. */
export function record<Value>(item: Shape<Value>): Shape<{ readonly [key: string]: Value }> {
  return { type: "record", item };
}

/** An object with these fields. Other fields are dropped. */
export function object<Body>(fields: Fields<Body>): Shape<Body> {
  return { type: "object", fields: fields as FieldTable, isOpen: false };
}

/** An object with these fields and any others, which are kept. */
export function openObject<Body>(fields: FieldTable): Shape<Body> {
  return { type: "object", fields, isOpen: true };
}

/** An object with the shape for its `type`. */
export function variants<Union extends { readonly type: string }>(
  shapes: {
    readonly [Type in Union["type"]]: Shape<VariantOf<Union, Type>>;
  },
): Shape<Union> {
  return { type: "variants", variants: shapes };
}

/** The member of a union with this type, without its type. */
type VariantOf<Union extends { readonly type: string }, Type extends string> = Union extends unknown
  ? Type extends Union["type"]
    ? Omit<Union, "type">
    : never
  : never;

export function either<Left, Right>(left: Shape<Left>, right: Shape<Right>): Shape<Left | Right> {
  return { type: "either", shapes: [left, right] };
}

/** A value that is checked and dropped from its list. */
export function dropped<Value>(shape: Shape<Value>): Shape<Value> {
  return { type: "dropped", shape };
}
