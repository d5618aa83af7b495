/** A category of places, with the words people use for it and the matching IMDF categories. */
type Category = {
  readonly id: string;
  /** Names a place that has no name of its own. Default: the id. */
  readonly label?: string;
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
    imdf: [
      ...["restaurant", "restaurant.", "foodservice", "foodservice.", "eatingdrinking", "foodcourt"],
      ...["fastfood", "burgers", "pizza", "sandwiches", "sushi", "seafood", "steakhouse", "noodles", "salad"],
      ...["barbecue", "bistro", "buffet", "cafeteria", "canteen", "diner", "delicatessen", "delicatessen."],
      ...[
        "american",
        "asianfusion",
        "chinese",
        "chinese.",
        "french",
        "french.",
        "german",
        "german.",
        "greek",
      ],
      ...[
        "indian",
        "indian.",
        "italian",
        "italian.",
        "japanese",
        "japanese.",
        "korean",
        "mexican",
        "spanish",
      ],
      ...["thai", "turkish", "vegan", "vegetarian", "vietnamese", "breakfastandbrunch", "familyrestaurant"],
    ],
  },
  {
    id: "cafe",
    synonyms: ["coffee", "coffee shop", "coffeehouse", "espresso"],
    imdf: ["cafe", "coffee", "coffee.", "coffeetea", "bakedgoods", "tea"],
  },
  {
    id: "shop",
    synonyms: ["store", "shopping", "buy", "boutique"],
    imdf: [
      ...[
        "shopping",
        "retail",
        "giftshop",
        "gifts",
        "dutyfree",
        "conveniencestore",
        "newsstand",
        "souvenirs",
      ],
      ...["books", "booksmagazinesmusicvideo", "clothing", "clothing.", "fashion", "fashionaccessories"],
      ...[
        "accessories",
        "cosmetics",
        "departmentstore",
        "electronics",
        "jewelry",
        "luggage",
        "shoes",
        "toys",
      ],
    ],
  },
  {
    id: "pharmacy",
    synonyms: ["chemist", "drugstore", "medicine", "headache", "pain", "pills", "ill", "sick"],
    imdf: ["pharmacy", "drugstore"],
  },
  {
    id: "lounge",
    synonyms: ["vip", "business lounge"],
    imdf: ["lounge", "privatelounge", "airportloungebar"],
  },
  {
    id: "water",
    label: "drinking fountain",
    synonyms: ["drinking water", "fountain", "bottle", "refill", "drink", "thirsty"],
    imdf: ["drinkingfountain", "waterfountain"],
  },
  {
    id: "charging",
    label: "charging station",
    synonyms: ["charge", "charger", "power", "socket", "outlet", "plug", "phone", "battery"],
    imdf: ["powerchargingstation"],
  },
  {
    id: "checkpoint",
    label: "security checkpoint",
    synonyms: ["security", "security check", "screening"],
    imdf: ["securitycheckpoint", "security", "security."],
  },
  {
    id: "information",
    label: "information desk",
    synonyms: ["info", "info desk", "help desk", "help"],
    imdf: ["information", "information.", "guestservices", "reception.desk"],
  },
  {
    id: "checkin",
    label: "check-in",
    synonyms: ["check-in", "bag drop", "counter"],
    imdf: ["checkin", "checkin."],
  },
  {
    id: "baggage",
    label: "baggage claim",
    synonyms: ["luggage", "bags", "belt", "carousel", "suitcase"],
    imdf: ["baggageclaim", "baggageclaim.", "baggagecarousel", "baggagecarousel."],
  },
  { id: "atm", label: "ATM", synonyms: ["cash", "money", "bank"], imdf: ["atm"] },
  {
    id: "nursing",
    label: "nursing room",
    synonyms: ["baby", "changing table", "nursery", "breastfeeding"],
    imdf: ["mothersroom", "babychanging"],
  },
  {
    id: "firstaid",
    label: "first aid",
    synonyms: ["nurse", "doctor", "medical", "defibrillator"],
    imdf: ["firstaid", "defibrillator"],
  },
  { id: "shower", synonyms: ["wash"], imdf: ["shower"] },
  { id: "smoking", label: "smoking area", synonyms: ["smoke", "cigarette"], imdf: ["smokingarea"] },
  {
    id: "prayer",
    label: "prayer room",
    synonyms: ["pray", "chapel", "mosque", "meditation"],
    imdf: ["prayerroom", "prayerroom.", "meditation"],
  },
  { id: "locker", synonyms: ["luggage storage", "left luggage"], imdf: ["coinlocker", "baggagestorage"] },
  {
    id: "vending",
    label: "vending machine",
    synonyms: ["snack"],
    imdf: ["vendingmachine", "vendingmachine."],
  },
  { id: "entrance", synonyms: ["entry", "exit", "door"], imdf: ["entry"] },
  { id: "parking", synonyms: ["car park", "garage"], imdf: ["parking", "parking."] },
  { id: "lift", synonyms: ["elevator"], imdf: ["elevator"] },
  { id: "stairs", synonyms: ["staircase", "steps"], imdf: ["stairs", "steps"] },
  { id: "escalator", synonyms: ["moving stairs"], imdf: ["escalator"] },
];

/** Maps an IMDF category to ours; unknown categories keep their name. "Gate 7" is a gate, whatever its category. */
export function toCategory(imdf: string, name = ""): string {
  if (/^gate\b/i.test(name)) return "gate";
  const found = categories.find(({ imdf: known }) =>
    known.some((prefix) => (prefix.endsWith(".") ? imdf.startsWith(prefix) : imdf === prefix)),
  );
  return found?.id ?? imdf;
}

export const getSynonyms = (id: string): readonly string[] =>
  categories.find((category) => category.id === id)?.synonyms ?? [];

const restroomUsers: readonly (readonly [part: string, word: string])[] = [
  ["wheelchair", "accessible"],
  ["family", "family"],
  ["female", "women's"],
  ["male", "men's"],
  ["unisex", "all-gender"],
  ["transgender", "all-gender"],
];

/** Words for whom a restroom is: "accessible" and "men's" for `restroom.male.wheelchair`. */
export function listRestroomUsers(imdf: string): readonly string[] {
  const parts = imdf.split(".");
  return parts[0] === "restroom"
    ? restroomUsers.flatMap(([part, word]) => (parts.includes(part) ? [word] : []))
    : [];
}

/** A name for places without one: "Men's restroom", "Lift". */
export function describeCategory(imdf: string): string {
  const id = toCategory(imdf);
  const label = categories.find((category) => category.id === id)?.label ?? id.replaceAll(".", " ");
  const words = [...listRestroomUsers(imdf), label].join(" ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** Categories that have an entry above: people look for such a place even if it has no name. */
export const isFacility = (imdf: string): boolean => toCategory(imdf) !== imdf || knownIds.has(imdf);
const knownIds: ReadonlySet<string> = new Set(categories.map(({ id }) => id));

/** Units that people walk through rather than to. */
export const isOpenSpace = (imdf: string): boolean =>
  /^(?:walkway|lobby|footbridge|movingwalkway|ramp|platform|unenclosedarea|concourse|terrace)/.test(imdf);

/** Units that nobody walks through: walls, voids, rooms of the staff. */
export const isClosedOff = (imdf: string): boolean =>
  /^(?:nonpublic|opentobelow|structure|column|brick|concrete|drywall|glass|wood|vegetation|road|serverroom|storage)$/.test(
    imdf,
  );
