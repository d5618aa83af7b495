import { createSchemaError, type Location, toChoice, toLiteral } from "./rules.ts";

/** Keywords about numbers. */
export type NumberLimits = {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
};

/** Integers of up to 15 digits are exact in JavaScript. */
const maxInteger = 10 ** 15 - 1;
const maxChoices = 256;
/** Between 0 and 1, neither included. */
const fraction = '"." [0-9]{0,5} [1-9]';

/** Returns an expression for the numbers within the limits. */
export function buildNumber(limits: NumberLimits, type: "integer" | "number", location: Location): string {
  if (limits.multipleOf !== undefined) return buildChoices(listMultiples(limits, type), location);
  const first = Math.max(findFirstInteger(limits), -maxInteger);
  const last = Math.min(findLastInteger(limits), maxInteger);
  const integers = buildIntegers(first, last);
  if (type === "integer") return integers ?? fail(location);
  if (first === -maxInteger && last === maxInteger)
    return '"-"? ( "0" | [1-9] [0-9]{0,14} ) ( "." [0-9]{1,15} )? ( [eE] [-+]? [0-9]{1,2} )?';
  const positive = buildIntegers(Math.max(0, first), last - 1);
  const negative = buildIntegers(Math.max(0, -last), -first - 1);
  const choices = [
    integers,
    positive && `${positive} ${fraction}`,
    negative && `"-" ${negative} ${fraction}`,
  ].filter((choice) => choice !== undefined);
  return choices.length > 0 ? toChoice(choices) : buildChoices(listDecimals(limits), location);
}

function fail(location: Location): never {
  throw createSchemaError(location, "minimum", "leaves no number that can be written");
}

function buildChoices(values: readonly number[], location: Location): string {
  return values.length > 0 ? toChoice(values.map((value) => toLiteral(String(value)))) : fail(location);
}

/** Whether a value is within all limits except `multipleOf`. */
export function isWithin(limits: NumberLimits, value: number): boolean {
  const { minimum = -Infinity, maximum = Infinity } = limits;
  const { exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = limits;
  return value >= minimum && value <= maximum && value > exclusiveMinimum && value < exclusiveMaximum;
}

function findFirstInteger({ minimum = -Infinity, exclusiveMinimum = -Infinity }: NumberLimits): number {
  return Math.max(Math.ceil(minimum), Math.floor(exclusiveMinimum) + 1);
}

function findLastInteger({ maximum = Infinity, exclusiveMaximum = Infinity }: NumberLimits): number {
  return Math.min(Math.floor(maximum), Math.ceil(exclusiveMaximum) - 1);
}

/** Lists the multiples nearest to zero, or to the limit that is. */
function listMultiples(limits: NumberLimits, type: "integer" | "number"): readonly number[] {
  const { multipleOf: step = 1 } = limits;
  const first = Math.ceil(Math.max(limits.minimum ?? -Infinity, limits.exclusiveMinimum ?? -Infinity) / step);
  const last = Math.floor(Math.min(limits.maximum ?? Infinity, limits.exclusiveMaximum ?? Infinity) / step);
  const start = Math.max(first, Math.min(0, last - maxChoices / 2), -maxChoices / 2);
  const from = first > 0 ? first : Math.min(start, last);
  const values = Array.from({ length: maxChoices }, (_, index) => toDecimal((from + index) * step, step));
  return values.filter(
    (value) => isWithin(limits, value) && isWritable(value) && (type === "number" || Number.isInteger(value)),
  );
}

/** Rounds off the noise of a multiplication: 3 * 0.1 is 0.3. */
const toDecimal = (value: number, step: number): number =>
  Number(value.toFixed(Math.min(20, (String(step).split(".")[1] ?? "").length)));

/** Lists decimals between limits that have no integer between them. */
function listDecimals(limits: NumberLimits): readonly number[] {
  const low = limits.minimum ?? limits.exclusiveMinimum ?? 0;
  const high = limits.maximum ?? limits.exclusiveMaximum ?? 0;
  const values = Array.from({ length: 65 }, (_, index) => low + ((high - low) * index) / 64);
  const rounded = values.flatMap((value) => [Number(value.toPrecision(3)), value]);
  return [...new Set(rounded)].filter((value) => isWithin(limits, value) && isWritable(value));
}

const isWritable = (value: number): boolean => Math.abs(value) <= maxInteger && !Object.is(value, -0);

/** Returns an expression for the integers from `first` to `last`; undefined for an empty range. */
export function buildIntegers(first: number, last: number): string | undefined {
  if (first > last) return undefined;
  const choices = last >= 0 ? listNatural(Math.max(0, first), last) : [];
  const negative = first < 0 ? listNatural(Math.max(1, -last), -first) : [];
  return toChoice([...choices, ...negative.map((choice) => `"-" ${choice}`)]);
}

/** One choice per number of digits. */
function listNatural(first: number, last: number): readonly string[] {
  const choices: string[] = [];
  for (let digits = String(first).length; digits <= String(last).length; digits++) {
    const low = Math.max(first, digits === 1 ? 0 : 10 ** (digits - 1));
    choices.push(buildDigits(String(low), String(Math.min(last, 10 ** digits - 1))));
  }
  return choices;
}

/** Both texts have the same length. */
function buildDigits(low: string, high: string): string {
  const [lowDigit = "", highDigit = ""] = [low[0], high[0]];
  const rest = low.length - 1;
  if (low === high) return `"${low}"`;
  if (/^0*$/.test(low.slice(1)) && /^9*$/.test(high.slice(1)))
    return `[${lowDigit}-${highDigit}]${rest > 0 ? ` [0-9]{${rest}}` : ""}`;
  if (lowDigit === highDigit) return `"${lowDigit}" ${buildDigits(low.slice(1), high.slice(1))}`;
  const choices = [`"${lowDigit}" ${buildDigits(low.slice(1), "9".repeat(rest))}`];
  const [between, end] = [Number(lowDigit) + 1, Number(highDigit) - 1];
  if (between <= end) choices.push(`[${between}-${end}] [0-9]{${rest}}`);
  choices.push(`"${highDigit}" ${buildDigits("0".repeat(rest), high.slice(1))}`);
  return toChoice(choices);
}
