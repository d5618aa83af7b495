// A fictional mailbox: people, company and amounts do not exist. Five of its mails are about one budget.

export type Mail = {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** YYYY-MM-DD. */
  readonly date: string;
  readonly subject: string;
  readonly body: string;
};

export type Mailbox = {
  /** The owner, as named in the run's `context`; empty for the local user. */
  readonly owner: string;
  /** Adds a note to every result, so that fictional mails are not mistaken for real ones. */
  readonly isFictional: boolean;
  readonly mails: readonly Mail[];
};

const you = "you@larkfield.example";

/** The local user's mailbox at Larkfield, a fictional company. */
export const fictionalMailbox: Mailbox = {
  owner: "",
  isFictional: true,
  mails: [
    {
      id: "mail-8",
      from: "Ines Duarte",
      to: you,
      date: "2026-06-18",
      subject: "Workshop budget approved",
      body: "The workshop budget is approved at 18,400 euros. Thank you all for the patience. Please book before the end of June.",
    },
    {
      id: "mail-7",
      from: "Tomas Brandt",
      to: you,
      date: "2026-06-11",
      subject: "Re: Workshop budget, second version",
      body: "With the boathouse instead of the hotel the budget comes down from 21,000 to 18,400 euros. Catering stays at 4,200.",
    },
    {
      id: "mail-6",
      from: "Ines Duarte",
      to: you,
      date: "2026-06-04",
      subject: "Workshop budget too high",
      body: "Finance will not sign a budget of 21,000 euros. The hotel alone is 9,000. Could we find another venue?",
    },
    {
      id: "mail-5",
      from: "Priya Raman",
      to: you,
      date: "2026-06-02",
      subject: "Train to Larkfield",
      body: "The morning train is full on the 9th. I have put a hold on seats in the one at 10:40.",
    },
    {
      id: "mail-4",
      from: "Tomas Brandt",
      to: you,
      date: "2026-05-28",
      subject: "Workshop budget, first version",
      body: "Here is the first budget for the workshop: hotel 9,000, catering 4,200, travel 5,300, speakers 2,500. That is 21,000 euros.",
    },
    {
      id: "mail-3",
      from: "Oskar Lind",
      to: you,
      date: "2026-05-21",
      subject: "Boathouse as a venue?",
      body: "The boathouse on the lake has room for sixty and is free in July. It costs less than half of what the hotel asks.",
    },
    {
      id: "mail-2",
      from: "Ines Duarte",
      to: you,
      date: "2026-05-12",
      subject: "Numbers for the workshop",
      body: "Before anything is booked I need a budget with one line for each item. Last year it was 16,000 euros.",
    },
    {
      id: "mail-1",
      from: "Priya Raman",
      to: you,
      date: "2026-05-05",
      subject: "Who speaks at the workshop",
      body: "Three speakers have said yes. Two of them need a room for the night before.",
    },
  ],
};
