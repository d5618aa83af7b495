// Times in other places, based on the runtime's time zones. A place is a zone or the city in its name.

/** Trailing words that are not part of the place: "New York right now". */
const nowWords = /(?:\s+(?:right|just|now|currently|today))+$/;

const zones: ReadonlyMap<string, string> = new Map(
  Intl.supportedValuesOf("timeZone").flatMap((zone) => [
    [normalizePlace(zone), zone],
    [normalizePlace(zone.split("/").at(-1) ?? zone), zone],
  ]),
);

const regions = ["Africa", "America", "Asia", "Atlantic", "Australia", "Europe", "Pacific"];

/** Returns the time in a place at the given instant. */
export function getTimeIn(place: string, now: number): { readonly time: string; readonly message: string } {
  const zone = resolveZone(place);
  const time = formatInZone(now, zone);
  return { time, message: `In ${formatZone(zone)} it is ${time}.` };
}

/** Converts a local time on a day from one place to another. */
export function convertTime(
  at: { readonly time: string; readonly day: string },
  from: string,
  to: string,
): { readonly time: string; readonly message: string } {
  const [source, target] = [resolveZone(from), resolveZone(to)];
  const clock = /^(\d{1,2})(?::(\d{2}))?\s*(am|pm)?$/i.exec(at.time.trim());
  const hour = clock && parseHour(Number(clock[1]), clock[3]);
  if (!clock || hour === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(at.day))
    throw new Error(
      `"${at.time}" on "${at.day}" is not a valid time. Write a time like 15:30 and a day like 2026-03-01.`,
    );
  const time24 = `${String(hour).padStart(2, "0")}:${clock[2] ?? "00"}`;
  const utc = Date.parse(`${at.day}T${time24}:00Z`);
  // Date.parse may roll the 31st of a 30-day month over to the 1st of the next.
  if (Number.isNaN(utc) || new Date(utc).toISOString().slice(0, 10) !== at.day)
    throw new Error(`There is no ${time24} on ${at.day}.`);
  // Apply the offset twice: it can differ at the resulting time if a clock change is in between.
  const guess = utc - getOffsetMs(utc, source);
  const time = formatInZone(utc - getOffsetMs(guess, source), target);
  return { time, message: `${time24} in ${formatZone(source)} is ${time} in ${formatZone(target)}.` };
}

function parseHour(hour: number, half: string | undefined): number | undefined {
  if (hour > (half ? 12 : 23)) return undefined;
  if (!half) return hour;
  return (hour % 12) + (half.toLowerCase() === "pm" ? 12 : 0);
}

/** How far a zone is ahead of UTC. */
function getOffsetMs(at: number, zone: string): number {
  return Date.parse(`${formatInZone(at, zone).replace(" ", "T")}:00Z`) - Math.floor(at / 60_000) * 60_000;
}

/** Formats as 2026-03-01 15:30. */
function formatInZone(at: number, zone: string): string {
  return new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" }).format(
    at,
  );
}

function resolveZone(place: string): string {
  const zone = zones.get(normalizePlace(place)) ?? findUnlistedZone(place);
  if (zone) return zone;
  const name = place.slice(0, 40);
  const [, similar] = [...zones].find(([city]) => differsByOneLetter(city, normalizePlace(name))) ?? [];
  const hint = similar
    ? `Did you mean ${formatZone(similar)}?`
    : "Use a zone or its city: Europe/Oslo, Tokyo or New York.";
  throw new Error(`No time zone is named after "${name}". ${hint}`);
}

/** True if one letter is wrong, missing or too many. */
function differsByOneLetter(left: string, right: string): boolean {
  const [short, long] = left.length < right.length ? [left, right] : [right, left];
  if (short.length < 4 || long.length - short.length > 1) return false;
  const at = [...short].findIndex((letter, index) => letter !== long[index]);
  return at < 0 || short.slice(long.length > short.length ? at : at + 1) === long.slice(at + 1);
}

/** The runtime lists zones under old city names (Calcutta, Kiev) but also accepts the new ones. */
function findUnlistedZone(place: string): string | undefined {
  const city = normalizePlace(place)
    .replace(/(?<=^|[ -])[a-z]/g, (letter) => letter.toUpperCase())
    .replaceAll(" ", "_");
  const names = [place.trim().toUpperCase(), ...regions.map((region) => `${region}/${city}`)];
  return names.find((zone) => {
    try {
      return new Intl.DateTimeFormat("en", { timeZone: zone }) !== undefined;
    } catch {
      return false; // no such zone
    }
  });
}

function formatZone(zone: string): string {
  return (zone.split("/").at(-1) ?? zone).replaceAll("_", " ");
}

function normalizePlace(name: string): string {
  return name.trim().toLowerCase().replaceAll("_", " ").replace(nowWords, "");
}
