import type { ParameterRecord } from "./parameter-record.ts";

/** The type of a valid value: declared by the library, or inferred from the JSON Schema or parameter record. */
export type Infer<Input> = Input extends {
  readonly "~standard": { readonly types?: { readonly output: infer Output } | undefined };
}
  ? Output
  : InferPlain<Input>;

/** The type of a value before the library has applied defaults and transformations. */
export type InferInput<Input> = Input extends {
  readonly "~standard": { readonly types?: { readonly input: infer Value } | undefined };
}
  ? Value
  : InferPlain<Input>;

type InferPlain<Input> = Input extends { readonly type: string | readonly string[] }
  ? FromJsonSchema<Input>
  : keyof Input extends never
    ? unknown
    : Input[keyof Input] extends { readonly "~standard": object }
      ? "This is a record of schemas, not a schema: wrap it in z.object({ … })"
      : Input extends ParameterRecord
        ? FromParameters<Input>
        : FromJsonSchema<Input>;

/** One object type instead of an intersection, so that an editor shows the fields. */
type Flat<Fields> = { [Name in keyof Fields]: Fields[Name] } & {};

type FromParameters<Parameters> = Flat<
  {
    [Name in RequiredIn<Parameters>]: FromJsonSchema<Parameters[Name]>;
  } & {
    [Name in Exclude<keyof Parameters, RequiredIn<Parameters>>]?: FromJsonSchema<Parameters[Name]>;
  }
>;

type RequiredIn<Parameters> = {
  [Name in keyof Parameters]: Parameters[Name] extends { readonly required: true } ? Name : never;
}[keyof Parameters];

type FromJsonSchema<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly anyOf: readonly (infer Option)[] } | { readonly oneOf: readonly (infer Option)[] }
      ? FromJsonSchema<Option>
      : S extends { readonly allOf: infer Parts extends readonly unknown[] }
        ? Flat<AllOf<Parts> & (S extends { readonly properties: object } ? ObjectOf<S> : unknown)>
        : S extends { readonly type: infer Type }
          ? OfType<S, Type>
          : unknown;

type AllOf<Parts extends readonly unknown[]> = Parts extends readonly [infer First, ...infer Rest]
  ? FromJsonSchema<First> & AllOf<Rest>
  : unknown;

type OfType<S, Type> = Type extends readonly (infer One)[]
  ? OfType<S, One>
  : Type extends "string"
    ? string
    : Type extends "number" | "integer"
      ? number
      : Type extends "boolean"
        ? boolean
        : Type extends "null"
          ? null
          : Type extends "array"
            ? FromJsonSchema<ItemOf<S>>[]
            : Type extends "object"
              ? ObjectOf<S>
              : unknown;

type ItemOf<S> = S extends { readonly items: infer Item }
  ? Item extends readonly (infer Member)[]
    ? Member
    : Item
  : unknown;

type ObjectOf<S> = S extends { readonly properties: infer Properties }
  ? S extends { readonly required: readonly (infer Required)[] }
    ? Flat<
        { [Key in keyof Properties & Required]: FromJsonSchema<Properties[Key]> } & {
          [Key in Exclude<keyof Properties, Required>]?: FromJsonSchema<Properties[Key]>;
        }
      >
    : { [Key in keyof Properties]?: FromJsonSchema<Properties[Key]> }
  : S extends
        | { readonly additionalProperties: infer Value extends object }
        | { readonly patternProperties: { readonly "^.*$": infer Value } } // TypeBox's records
    ? { [key: string]: FromJsonSchema<Value> }
    : { [key: string]: unknown };
