// Units by what they measure. Each has its names and its size in the first unit of its kind; degrees have a zero too.

type Names = readonly [symbol: string, ...others: string[]];
type Unit = { readonly names: Names; readonly size: number; readonly zero?: number };

const unit = (size: number, ...names: Names): Unit => ({ names, size });

const quantities: Readonly<Record<string, readonly Unit[]>> = {
  length: [
    unit(1, "m", "meter", "metre"),
    unit(1000, "km", "kilometer", "kilometre"),
    unit(0.01, "cm", "centimeter", "centimetre"),
    unit(0.001, "mm", "millimeter", "millimetre"),
    unit(1609.344, "mi", "mile"),
    unit(0.9144, "yd", "yard"),
    unit(0.3048, "ft", "foot", "feet"),
    unit(0.0254, "in", "inch", "inches"),
    unit(1852, "nmi", "nautical mile"),
  ],
  mass: [
    unit(1, "kg", "kilogram", "kilo"),
    unit(0.001, "g", "gram"),
    unit(1000, "t", "tonne"),
    unit(0.45359237, "lb", "lbs", "pound"),
    unit(0.028349523125, "oz", "ounce"),
    unit(6.35029318, "st", "stone"),
  ],
  volume: [
    unit(1, "l", "liter", "litre"),
    unit(0.001, "ml", "milliliter", "millilitre"),
    unit(3.785411784, "gal", "gallon"),
    unit(0.473176473, "pt", "pint"),
    unit(0.2365882365, "cup"),
  ],
  time: [
    unit(1, "s", "second"),
    unit(60, "min", "minute"),
    unit(3600, "h", "hour"),
    unit(86_400, "d", "day"),
    unit(604_800, "wk", "week"),
  ],
  speed: [
    unit(1, "m/s"),
    unit(1 / 3.6, "km/h", "kph", "kmh"),
    unit(0.44704, "mph"),
    unit(1852 / 3600, "kn", "knot"),
  ],
  data: [
    unit(1, "B", "byte"),
    unit(1e3, "KB", "kilobyte"),
    unit(1e6, "MB", "megabyte"),
    unit(1e9, "GB", "gigabyte"),
    unit(1e12, "TB", "terabyte"),
    unit(2 ** 20, "MiB", "mebibyte"),
    unit(2 ** 30, "GiB", "gibibyte"),
  ],
  temperature: [
    { names: ["K", "kelvin"], size: 1, zero: 0 },
    { names: ["C", "°C", "celsius"], size: 1, zero: 273.15 },
    { names: ["F", "°F", "fahrenheit"], size: 5 / 9, zero: 459.67 * (5 / 9) },
  ],
};

export type Converted = { readonly value: number; readonly unit: string; readonly message: string };

/** Throws when a unit is not known, or the two measure different things. */
export function convert(value: number, from: string, to: string): Converted {
  const source = find(from);
  const target = find(to);
  if (source.quantity !== target.quantity)
    throw new Error(`${source.symbol} measures ${source.quantity} and ${target.symbol} ${target.quantity}.`);
  const result = (value * source.size + source.zero - target.zero) / target.size;
  // Six digits are enough for people, and hide what binary fractions add.
  const rounded = Number(result.toPrecision(6));
  return {
    value: rounded,
    unit: target.symbol,
    message: `${value} ${source.symbol} = ${rounded} ${target.symbol}`,
  };
}

/** Units by what they measure, each by its short name. */
export function unitNames(): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(quantities).map(([quantity, units]) => [
      quantity,
      units.map(({ names: [symbol] }) => symbol),
    ]),
  );
}

type Found = Required<Omit<Unit, "names">> & { readonly quantity: string; readonly symbol: string };

function find(name: string): Found {
  const wanted = name.trim();
  const isExact = (known: string) => known === wanted;
  const isLike = (known: string) => plain(known) === plain(wanted);
  // First to the letter: the case tells MB from mb only when somebody cared.
  for (const isMeant of [isExact, isLike])
    for (const [quantity, units] of Object.entries(quantities))
      for (const { names, size, zero = 0 } of units)
        if (names.some(isMeant)) return { quantity, size, zero, symbol: names[0] };
  const known = Object.values(unitNames()).flat().join(", ");
  throw new Error(`The unit "${wanted.slice(0, 40)}" is not known. Known are ${known}.`);
}

const plain = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^degrees? /, "")
    .replace(/(?<=..)s$/, "");
