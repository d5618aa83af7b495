import type { Json } from "capstan";
import { splitName } from "../language/words.ts";

const units: readonly (readonly [RegExp, string])[] = [
  [/(?:^k|K)ilomet(?:re|er)s?$/u, "km"],
  [/(?:^d|D)istance$|(?:^m|M)et(?:re|er)s?$/u, "m"],
  [/(?:^m|M)inutes?$/u, "min"],
  [/(?:^s|S)econds?$/u, "s"],
  [/(?:^p|P)ercent$/u, "%"],
];

const findUnit = (key: string): string | undefined => units.find(([pattern]) => pattern.test(key))?.[1];

/** True for a number whose property name implies a unit. */
export const isMeasure = (key: string, value: Json): boolean =>
  typeof value === "number" && findUnit(key) !== undefined;

/** Appends the unit that the property name implies: `distanceMetres: 40` becomes "40 m". */
export const withUnit = (key: string, value: Json, text: string): string =>
  isMeasure(key, value) ? `${text} ${findUnit(key)}` : text;

/** Removes the unit from a property name: `walkingMinutes` becomes "walking". */
export function stripUnit(key: string): string {
  const parts = splitName(key);
  return findUnit(key) !== undefined && parts.length > 1 ? parts.slice(0, -1).join("_") : key;
}
