/** Ids start at 5001 and must never appear in an answer. */
export const never: readonly RegExp[] = [/poiId/i, /\b[56]\d{3}\b/];
export const metres: RegExp = /\d+ (m|metres)\b/;
export const minutes: RegExp = /\d+ min/;
