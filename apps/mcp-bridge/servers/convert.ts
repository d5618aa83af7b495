// Units by quantity. Each has its names and its size in the first unit of the quantity; temperatures also have a zero.

type Names = readonly [symbol: string, ...others: string[]];
type Unit = { readonly names: Names; readonly size: number; readonly zero?: number };

const createUnit = (size: number, ...names: Names): Unit => ({ names, size });

const quantities: Readonly<Record<string, readonly Unit[]>> = {
  length: [
    createUnit(1, "m", "meter", "metre"),
    createUnit(1000, "km", "kilometer", "kilometre"),
    createUnit(0.01, "cm", "centimeter", "centimetre"),
    createUnit(0.001, "mm", "millimeter", "millimetre"),
    createUnit(1609.344, "mi", "mile"),
    createUnit(0.9144, "yd", "yard"),
    createUnit(0.3048, "ft", "foot", "feet"),
    createUnit(0.0254, "in", "inch", "inches"),
    createUnit(1852, "nmi", "nautical mile"),
  ],
  mass: [
    createUnit(1, "kg", "kilogram", "kilo"),
    createUnit(0.001, "g", "gram"),
    createUnit(1000, "t", "tonne"),
    createUnit(0.45359237, "lb", "lbs", "pound"),
    createUnit(0.028349523125, "oz", "ounce"),
    createUnit(6.35029318, "st", "stone"),
  ],
  volume: [
    createUnit(1, "l", "liter", "litre"),
    createUnit(0.001, "ml", "milliliter", "millilitre"),
    createUnit(3.785411784, "gal", "gallon"),
    createUnit(0.473176473, "pt", "pint"),
    createUnit(0.2365882365, "cup"),
  ],
  time: [
    createUnit(1, "s", "second"),
    createUnit(60, "min", "minute"),
    createUnit(3600, "h", "hour"),
    createUnit(86_400, "d", "day"),
    createUnit(604_800, "wk", "week"),
  ],
  speed: [
    createUnit(1, "m/s"),
    createUnit(1 / 3.6, "km/h", "kph", "kmh"),
    createUnit(0.44704, "mph"),
    createUnit(1852 / 3600, "kn", "knot"),
  ],
  data: [
    createUnit(1, "B", "byte"),
    createUnit(1e3, "KB", "kilobyte"),
    createUnit(1e6, "MB", "megabyte"),
    createUnit(1e9, "GB", "gigabyte"),
    createUnit(1e12, "TB", "terabyte"),
    createUnit(2 ** 20, "MiB", "mebibyte"),
    createUnit(2 ** 30, "GiB", "gibibyte"),
  ],
  temperature: [
    { names: ["K", "kelvin"], size: 1, zero: 0 },
    { names: ["C", "°C", "celsius"], size: 1, zero: 273.15 },
    { names: ["F", "°F", "fahrenheit"], size: 5 / 9, zero: 459.67 * (5 / 9) },
  ],
};

export type Conversion = { readonly value: number; readonly unit: string; readonly message: string };

/** Throws if a unit is unknown or the units measure different quantities. */
export function convert(value: number, from: string, to: string): Conversion {
  const [, first = from, amount, second] =
    /^(\S+)\s+(?:and\s+)?(\d+(?:\.\d+)?)\s*(\S+)$/.exec(from.trim()) ?? [];
  const source = getUnit(first);
  const target = getUnit(to);
  const parts = [{ value, unit: source }];
  if (second !== undefined) parts.push({ value: Number(amount), unit: getUnit(second) });
  for (const { unit } of parts)
    if (unit.quantity !== target.quantity)
      throw new Error(`${unit.symbol} measures ${unit.quantity} and ${target.symbol} ${target.quantity}.`);
  const total = parts.reduce((sum, part) => sum + part.value * part.unit.size, 0);
  const result = (total + source.zero - target.zero) / target.size;
  // Six digits are precise enough and hide binary rounding errors.
  const rounded = Number(result.toPrecision(6));
  return {
    value: rounded,
    unit: target.symbol,
    message: `${parts.map((part) => `${part.value} ${part.unit.symbol}`).join(" ")} = ${rounded} ${target.symbol}`,
  };
}

/** The symbols of all units, by quantity. */
export function listUnits(): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(quantities).map(([quantity, units]) => [
      quantity,
      units.map(({ names: [symbol] }) => symbol),
    ]),
  );
}

type UnitMatch = Required<Omit<Unit, "names">> & { readonly quantity: string; readonly symbol: string };

function getUnit(name: string): UnitMatch {
  const unitName = name.trim();
  const isExact = (known: string) => known === unitName;
  const isSimilar = (known: string) => normalizeUnit(known) === normalizeUnit(unitName);
  // Try an exact match first, since the case can matter (MB, mb).
  for (const isMatch of [isExact, isSimilar])
    for (const [quantity, units] of Object.entries(quantities))
      for (const { names, size, zero = 0 } of units)
        if (names.some(isMatch)) return { quantity, size, zero, symbol: names[0] };
  const known = Object.values(listUnits()).flat().join(", ");
  throw new Error(`The unit "${unitName.slice(0, 40)}" is unknown. Known units: ${known}.`);
}

const normalizeUnit = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^degrees? /, "")
    .replace(/(?<=..)s$/, "");
