/** Ids begin at 5001 and are for the tools alone. */
export const never: readonly RegExp[] = [/poiId/i, /\b[56]\d{3}\b/];
export const metres: RegExp = /\d+ (m|metres)\b/;
export const minutes: RegExp = /\d+ min/;
