import { describe, expect, it } from "vitest";
import { convert, listUnits } from "./convert.ts";

describe("a conversion of units", () => {
  it.each<[number, string, string, string]>([
    [42, "km", "mi", "42 km = 26.0976 mi"],
    [1, "Kilometers", "metres", "1 km = 1000 m"],
    [100, "fahrenheit", "°C", "100 F = 37.7778 C"],
    [-40, "celsius", "degrees fahrenheit", "-40 C = -40 F"],
    [0, "K", "C", "0 K = -273.15 C"],
    [5, "kg", "pounds", "5 kg = 11.0231 lb"],
    [120, "km/h", "mph", "120 km/h = 74.5645 mph"],
    [1, "GiB", "MB", "1 GiB = 1073.74 MB"],
    [2, "hours", "minutes", "2 h = 120 min"],
    [5, "feet 3 inches", "cm", "5 ft 3 in = 160.02 cm"],
    [1, "h and 30 min", "minutes", "1 h 30 min = 90 min"],
  ])("of %f %s to %s", (value, from, to, expected) => {
    expect(convert(value, from, to).message).toBe(expected);
  });

  it("round-trips", () => {
    for (const units of Object.values(listUnits()))
      for (const from of units)
        for (const to of units) expect(convert(convert(7, from, to).value, to, from).value).toBeCloseTo(7, 3);
  });

  it("refuses unknown units and lists the known ones", () => {
    expect(() => convert(1, "parsec", "km")).toThrow(/"parsec" is unknown\. Known units: m, km/);
    expect(() => convert(1, "kg", "km")).toThrow("kg measures mass and km length.");
  });
});
