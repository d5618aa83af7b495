/** A category of places, with the words travelers use for it and the matching IMDF categories. */
type Category = {
  readonly id: string;
  readonly synonyms: readonly string[];
  /** An entry ending in "." matches every IMDF category with this prefix. */
  readonly imdf: readonly string[];
};

const categories: readonly Category[] = [
  { id: "gate", synonyms: ["boarding gate", "departure gate"], imdf: ["boardinggate", "boardinggate."] },
  {
    id: "restroom",
    synonyms: ["bathroom", "toilet", "wc", "washroom", "lavatory", "loo", "ladies", "gents"],
    imdf: ["restroom", "restroom.", "toilet", "toilet."],
  },
  {
    id: "restaurant",
    synonyms: ["food", "eat", "hungry", "dinner", "lunch", "meal", "dining", "cuisine"],
    imdf: ["restaurant", "foodservice", "fastfood"],
  },
  {
    id: "cafe",
    synonyms: ["coffee", "coffee shop", "coffeehouse", "espresso"],
    imdf: ["cafe", "coffee", "coffeetea"],
  },
  {
    id: "shop",
    synonyms: ["store", "shopping", "buy", "boutique"],
    imdf: ["shopping", "retail", "giftshop"],
  },
  {
    id: "pharmacy",
    synonyms: ["chemist", "drugstore", "medicine", "headache", "pain", "pills", "ill", "sick"],
    imdf: ["pharmacy"],
  },
  { id: "lounge", synonyms: ["vip", "business lounge"], imdf: ["lounge", "privatelounge"] },
  {
    id: "water",
    synonyms: ["drinking water", "fountain", "bottle", "refill", "drink", "thirsty"],
    imdf: ["drinkingfountain", "waterfountain"],
  },
  {
    id: "charging",
    synonyms: ["charge", "charger", "power", "socket", "outlet", "plug", "phone", "battery"],
    imdf: ["powerchargingstation"],
  },
  {
    id: "checkpoint",
    synonyms: ["security", "security check", "screening"],
    imdf: ["securitycheckpoint", "security"],
  },
  { id: "information", synonyms: ["info", "info desk", "help desk", "help"], imdf: ["information"] },
  { id: "checkin", synonyms: ["check-in", "bag drop", "counter"], imdf: ["checkin", "checkin."] },
  {
    id: "baggage",
    synonyms: ["luggage", "bags", "belt", "carousel", "suitcase"],
    imdf: ["baggageclaim", "baggagecarousel"],
  },
  { id: "atm", synonyms: ["cash", "money", "bank"], imdf: ["atm"] },
  { id: "lift", synonyms: ["elevator"], imdf: ["elevator"] },
  { id: "stairs", synonyms: ["staircase", "steps"], imdf: ["stairs", "steps"] },
  { id: "escalator", synonyms: ["moving stairs"], imdf: ["escalator"] },
];

/** Maps an IMDF category to ours; unknown categories keep their name. */
export function toCategory(imdf: string): string {
  const found = categories.find(({ imdf: known }) =>
    known.some((name) => (name.endsWith(".") ? imdf.startsWith(name) : imdf === name)),
  );
  return found?.id ?? imdf;
}

export const getSynonyms = (id: string): readonly string[] =>
  categories.find((category) => category.id === id)?.synonyms ?? [];
