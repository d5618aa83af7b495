import type { Json } from "capstan";
import { nameParts } from "./words.ts";

const units: readonly (readonly [RegExp, string])[] = [
  [/(?:^k|K)ilomet(?:re|er)s?$/u, "km"],
  [/(?:^d|D)istance$|(?:^m|M)et(?:re|er)s?$/u, "m"],
  [/(?:^m|M)inutes?$/u, "min"],
  [/(?:^s|S)econds?$/u, "s"],
  [/(?:^p|P)ercent$/u, "%"],
];

const unitOf = (key: string): string | undefined => units.find(([pattern]) => pattern.test(key))?.[1];

/** A number whose property tells its unit. */
export const isMeasure = (key: string, value: Json): boolean =>
  typeof value === "number" && unitOf(key) !== undefined;

/** A number with its unit, where the name of the property tells it: `distanceMetres: 40` is 40 m. */
export const measured = (key: string, value: Json, text: string): string =>
  isMeasure(key, value) ? `${text} ${unitOf(key)}` : text;

/** `walkingMinutes` is "walking", when the unit stands behind the number. */
export function withoutUnit(key: string): string {
  const parts = nameParts(key);
  return unitOf(key) !== undefined && parts.length > 1 ? parts.slice(0, -1).join("_") : key;
}
