const months = "january february march april may june july august september october november december".split(
  " ",
);

/**
 * Parses a day such as "2026-06-10", "10 June 2026", "June 10th" or "the 10th of June" to YYYY-MM-DD. Without a year, it
 * is the last such day that is not after `newest`. Undefined for anything else.
 */
export function parseDay(text: string, newest: string): string | undefined {
  const plain = text.trim().toLowerCase();
  if (/^\d{4}-\d{2}-\d{2}$/.test(plain)) return toDay(plain);
  const day = /\b(\d{1,2})(?:st|nd|rd|th)?\b/.exec(plain)?.[1];
  const name = plain.match(/\p{L}{3,}/gu)?.find((word) => findMonth(word) > 0) ?? "";
  const year = /\b\d{4}\b/.exec(plain)?.[0];
  const rest = plain.replace(/\b\d{4}\b|\b\d{1,2}(?:st|nd|rd|th)?\b|\bof\b|\bthe\b|[\s,.]/g, "");
  if (day === undefined || name === "" || rest !== name) return undefined;
  const date = `${String(findMonth(name)).padStart(2, "0")}-${day.padStart(2, "0")}`;
  if (year !== undefined) return toDay(`${year}-${date}`);
  const lastYear = Number(newest.slice(0, 4));
  return [lastYear, lastYear - 1]
    .map((candidate) => toDay(`${candidate}-${date}`))
    .find((candidate) => candidate !== undefined && candidate <= newest);
}

/** The number of a month by its name or the start of it. */
const findMonth = (word: string): number => 1 + months.findIndex((month) => month.startsWith(word));

/** Undefined for a day that does not exist. */
function toDay(date: string): string | undefined {
  const time = Date.parse(`${date}T00:00:00Z`);
  return Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== date ? undefined : date;
}
