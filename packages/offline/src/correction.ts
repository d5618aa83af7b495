export type Continued = { readonly fresh: string; readonly instead?: string; readonly isCorrection?: true };

const sorry = String.raw`^\s*(?:(?:no+|nope|sorry|oops|wait|actually|ah|oh|hm+)[\s,.!]+)*`;
const meant = new RegExp(
  `${sorry}i\\s+(?:meant|mean|said|wanted)(?:\\s+to\\s+say)?[\\s,:]+(?<fresh>\\S.*)$`,
  "isu",
);
const notThis = new RegExp(
  `${sorry}not\\s+(?<instead>[^,;.]{1,60})[,;.]\\s*(?:but\\s+)?(?<fresh>\\S.*)$`,
  "isu",
);

/** "No, I meant green", "not the boats, the trains": what was meant in the place of something that was said. */
export function correctionIn(text: string): Continued | undefined {
  const found = meant.exec(text) ?? notThis.exec(text);
  const { fresh, instead } = found?.groups ?? {};
  if (fresh === undefined) return undefined;
  // "I said green, not blue" says both.
  const [, kept = fresh, other] = /^(.+?),\s*not\s+(.+)$/isu.exec(fresh) ?? [];
  const wrong = instead ?? other;
  return { fresh: kept, isCorrection: true, ...(wrong !== undefined && { instead: wrong }) };
}
