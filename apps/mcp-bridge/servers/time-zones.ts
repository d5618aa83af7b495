// Times in other places, by the time zones that the runtime knows. A place is a zone, or the city that names one.

/** "New York right now" is New York. */
const nowWords = /(?:\s+(?:right|just|now|currently|today))+$/;

const zones: ReadonlyMap<string, string> = new Map(
  Intl.supportedValuesOf("timeZone").flatMap((zone) => [
    [plain(zone), zone],
    [plain(zone.split("/").at(-1) ?? zone), zone],
  ]),
);

const regions = ["Africa", "America", "Asia", "Atlantic", "Australia", "Europe", "Pacific"];

/** The time in a place, at this moment. */
export function timeIn(place: string, now: number): { readonly time: string; readonly message: string } {
  const zone = zoneOf(place);
  const time = written(now, zone);
  return { time, message: `In ${nameOf(zone)} it is ${time}.` };
}

/** What the clocks of a place show when those of another show a time, on a day. */
export function timeElsewhere(
  at: { readonly time: string; readonly day: string },
  from: string,
  to: string,
): { readonly time: string; readonly message: string } {
  const [source, target] = [zoneOf(from), zoneOf(to)];
  const clock = /^(\d{1,2})(?::(\d{2}))?\s*(am|pm)?$/i.exec(at.time.trim());
  const hour = clock && hourOf(Number(clock[1]), clock[3]);
  if (!clock || hour === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(at.day))
    throw new Error(
      `"${at.time}" on "${at.day}" is no time. Write it like 15:30, and a day like 2026-03-01.`,
    );
  const said = `${String(hour).padStart(2, "0")}:${clock[2] ?? "00"}`;
  const utc = Date.parse(`${at.day}T${said}:00Z`);
  // The 31st of a month with thirty days would be taken for the 1st of the next.
  if (Number.isNaN(utc) || new Date(utc).toISOString().slice(0, 10) !== at.day)
    throw new Error(`There is no ${said} on ${at.day}.`);
  // Twice, for the difference may be another one at the time that is meant: a clock change lies between.
  const guess = utc - offset(utc, source);
  const time = written(utc - offset(guess, source), target);
  return { time, message: `${said} in ${nameOf(source)} is ${time} in ${nameOf(target)}.` };
}

function hourOf(hour: number, half: string | undefined): number | undefined {
  if (hour > (half ? 12 : 23)) return undefined;
  if (!half) return hour;
  return (hour % 12) + (half.toLowerCase() === "pm" ? 12 : 0);
}

/** Milliseconds that a zone is ahead of UTC. */
function offset(at: number, zone: string): number {
  return Date.parse(`${written(at, zone).replace(" ", "T")}:00Z`) - Math.floor(at / 60_000) * 60_000;
}

/** As 2026-03-01 15:30. */
function written(at: number, zone: string): string {
  return new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" }).format(
    at,
  );
}

function zoneOf(place: string): string {
  const zone = zones.get(plain(place)) ?? newerName(place);
  if (zone) return zone;
  const example = "Europe/Oslo, Tokyo or New York";
  throw new Error(`No time zone is named after "${place.slice(0, 40)}". Say a zone or its city: ${example}.`);
}

/** Zones are listed by old names of their cities (Calcutta, Kiev); the newer ones are known, but not listed. */
function newerName(place: string): string | undefined {
  const city = plain(place)
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

const nameOf = (zone: string): string => (zone.split("/").at(-1) ?? zone).replaceAll("_", " ");

function plain(name: string): string {
  return name.trim().toLowerCase().replaceAll("_", " ").replace(nowWords, "");
}
