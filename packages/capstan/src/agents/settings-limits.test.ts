import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { ModelSettings } from "../kernel/settings/settings.ts";
import { checkSettingsLimits, clampSettings, findSettingsProblem, readSettings } from "./settings-limits.ts";

const effort = fc.oneof(
  fc.constantFrom("none", "low", "medium", "high"),
  fc.integer({ min: 1, max: 100_000 }),
);
const tokens = fc.integer({ min: 1, max: 100_000 });
const layer = fc.record(
  { effort, maxOutputTokens: tokens, temperature: fc.constant(1) },
  { requiredKeys: [], noNullPrototype: true },
) as fc.Arbitrary<ModelSettings>;

it("clamped settings are within the limits, and settings within them are not changed", () => {
  fc.assert(
    fc.property(layer, layer, (settings, { temperature: _, ...limits }) => {
      const clamped = clampSettings(settings, limits);
      expect(readSettings(clamped, limits)).toBe(clamped);
      expect(Object.keys(clamped)).toEqual(Object.keys(settings));
      const isWithin = findSettingsProblem(settings, limits) === undefined;
      expect(isDeepStrictEqual(clamped, settings)).toBe(isWithin);
    }),
  );
});

it("settings beyond a limit are refused with the field and the maximum", () => {
  const read = (settings: unknown) => () => readSettings(settings, { effort: "low", maxOutputTokens: 10 });
  expect(read({ effort: "medium" })).toThrow('settings.effort cannot be "medium": the maximum is "low".');
  expect(read({ effort: 5000 })).toThrow('settings.effort cannot be 5000: the maximum is "low".');
  expect(read({ maxOutputTokens: 11 })).toThrow("the maximum is 10.");
  expect(read({ temperature: 7 })).toThrow("settings.temperature cannot be 7: use a number from 0 to 2.");
  expect(read({ temprature: 1 })).toThrow('settings.temprature is unknown. Did you mean "temperature"?');
  expect(read([])).toThrow("settings must be an object.");
});

it("limits are checked themselves", () => {
  expect(() => checkSettingsLimits({ temperature: 1 } as object)).toThrow('Unknown field "temperature"');
  expect(() => checkSettingsLimits({ maxOutputTokens: 0 })).toThrow("maxOutputTokens of the settings limits");
});
