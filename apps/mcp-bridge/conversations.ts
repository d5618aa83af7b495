import type { Conversation } from "capstan/testing/conversation-suite";

const cannot = /cannot|can't|no tool/i;

/** Conversations with the bridge and the expected calls and answers. They share one file of notes; the pages are fake. */
export const conversations: readonly Conversation[] = [
  [
    {
      user: "How many miles are 42 km?",
      calls: [["mcp_units_convert", { value: 42, from: "km", to: "miles" }]],
      answers: ["26.09"],
    },
    { user: "and 10 km?", calls: [["mcp_units_convert", { value: 10 }]], answers: ["6.21"] },
    { user: "thank you", calls: [] },
  ],
  [
    {
      user: "Convert 5 kg to pounds",
      calls: [["mcp_units_convert", { value: 5, from: "kg", to: "pounds" }]],
      answers: ["11.02"],
    },
    { user: "what about 80 kg?", calls: [["mcp_units_convert", { value: 80 }]], answers: ["176.37"] },
  ],
  [{ user: "how much is 100 fahrenheit in celsius", calls: [["mcp_units_convert"]], answers: ["37.77"] }],
  [
    {
      user: "What is 3 gallons in litres?",
      calls: [["mcp_units_convert", { value: 3 }]],
      answers: ["11.35"],
    },
  ],
  [{ user: "120 km/h in mph", calls: [["mcp_units_convert", { value: 120 }]], answers: ["74.56"] }],
  [{ user: "convret 2 hours to minutes", calls: [["mcp_units_convert", { value: 2 }]], answers: ["120"] }],
  [
    {
      user: "convert -40 celsius to fahrenheit",
      calls: [["mcp_units_convert", { value: -40 }]],
      answers: ["-40"],
    },
  ],
  [
    {
      user: "How many feet are 1.8 metres?",
      calls: [["mcp_units_convert", { value: 1.8 }]],
      answers: ["5.90"],
    },
  ],
  [
    {
      user: "Convert 3 parsecs to km",
      calls: [["mcp_units_convert", { value: 3, from: "parsecs", to: "km" }]],
      answers: ["parsecs", /unknown/i],
      never: ["e13"],
    },
  ],
  [
    {
      user: "convert 3 kg to km",
      calls: [["mcp_units_convert", { value: 3, from: "kg", to: "km" }]],
      answers: ["mass", "length"],
    },
  ],
  [
    { user: "Convert to miles", calls: [], answers: ["?"] },
    { user: "7 km", answers: ["4.34"] },
  ],
  [{ user: "Which units do you know?", calls: [["mcp_units_list_units"]], answers: ["length", "kg", "mph"] }],
  [
    { user: "What's 60 mph to km/h?", calls: [["mcp_units_convert", { value: 60 }]], answers: ["96.56"] },
    { user: "and 100 mph?", calls: [["mcp_units_convert", { value: 100 }]], answers: ["160.93"] },
  ],
  [
    {
      user: "convert 100 degrees celsius into fahrenheit",
      calls: [["mcp_units_convert", { value: 100, from: "celsius", to: "fahrenheit" }]],
      answers: ["212"],
    },
  ],
  [{ user: "how tall is 6 feet in metres", calls: [["mcp_units_convert", { value: 6 }]], answers: ["1.82"] }],
  [{ user: "list the units", calls: [["mcp_units_list_units"]], answers: ["temperature"] }],
  [
    {
      user: "When it is 15:00 in Oslo, what time is it in Tokyo?",
      calls: [["mcp_units_convert_time", { time: "15:00", from: "Oslo", to: "Tokyo" }]],
      answers: [/2[23]:00/, "Tokyo"],
    },
    { user: "and in London?", calls: [["mcp_units_convert_time", { to: "London" }]], answers: ["14:00"] },
  ],
  [
    {
      user: "What is 9 am in New York for people in Berlin?",
      calls: [["mcp_units_convert_time", { time: "9 am", from: "New York", to: "Berlin" }]],
      answers: [/1[45]:00/],
    },
  ],
  [
    {
      user: "if it's 3 pm in Paris, what time is it in Sydney?",
      calls: [["mcp_units_convert_time", { time: "3 pm", from: "Paris", to: "Sydney" }]],
      answers: ["Sydney"],
    },
  ],
  [
    {
      user: "What time is it in Tokyo?",
      calls: [["mcp_units_time_in", { place: "Tokyo" }]],
      answers: ["Tokyo"],
    },
  ],
  [{ user: "what's the time in new york", calls: [["mcp_units_time_in"]], answers: ["New York"] }],
  [
    {
      user: "What time is it in Gotham?",
      calls: [["mcp_units_time_in", { place: "Gotham" }]],
      answers: ["Gotham"],
      never: [/\d\d:\d\d/],
    },
  ],
  [{ user: "What notes do I have?", calls: [["mcp_notes_list_notes"]], answers: ["umbrella", "garden"] }],
  [{ user: "list my notse", calls: [["mcp_notes_list_notes"]], answers: ["umbrella"] }],
  [
    {
      user: "Find notes about Bergen",
      calls: [["mcp_notes_search_notes", { query: "Bergen" }]],
      answers: ["umbrella"],
      never: ["garden"],
    },
    { user: "and the garden?", calls: [["mcp_notes_search_notes"]], answers: ["Friday"] },
  ],
  [{ user: "search my notes for umbrella", calls: [["mcp_notes_search_notes"]], answers: ["Bergen"] }],
  [
    {
      user: "Is there a note about submarines?",
      calls: [["mcp_notes_search_notes", { query: "submarines" }]],
      answers: [/no /i],
    },
  ],
  [
    {
      user: "Note that the spare key is under the blue pot",
      calls: [["mcp_notes_add_note", { text: "the spare key is under the blue pot" }]],
      answers: ["spare key"],
    },
    { user: "What did I note about the key?", calls: [["mcp_notes_search_notes"]], answers: ["blue pot"] },
  ],
  [
    {
      user: 'add a note: "call Grace at noon"',
      calls: [["mcp_notes_add_note", { text: "call Grace at noon" }]],
    },
  ],
  [
    {
      user: "make a note to water the roses",
      calls: [["mcp_notes_add_note", { text: "water the roses" }]],
      answers: ["roses"],
    },
  ],
  [
    {
      user: "jot down: dentist on Tuesday",
      calls: [["mcp_notes_add_note", { text: "dentist on Tuesday" }]],
    },
  ],
  [
    {
      user: "Don't forget that the bins go out on Monday",
      calls: [["mcp_notes_add_note"]],
      answers: ["bins"],
    },
  ],
  // Asking about a note, or asking to keep it, deletes nothing.
  [{ user: "Should I delete note 1?", never: [/deleted/i] }],
  [
    { user: "don't delete note 1", calls: [], answers: ["All right"] },
    { user: "What notes do I have?", calls: [["mcp_notes_list_notes"]], answers: ["umbrella"] },
  ],
  [{ user: "Can I delete notes?", never: [/deleted/i] }],
  [{ user: "remember that rent is due on the 3rd", calls: [["mcp_notes_add_note"]], answers: ["rent"] }],
  [
    {
      user: "Note that 8 miles is enough, and list my notes",
      calls: [["mcp_notes_add_note"], ["mcp_notes_list_notes"]],
      answers: ["umbrella", "8 miles"],
    },
  ],
  [
    { user: "Delete note 2", calls: [["mcp_notes_delete_note", { id: 2 }]], answers: ["garden"] },
    { user: "Delete note 99", calls: [["mcp_notes_delete_note", { id: 99 }]], answers: ["99", /not found/i] },
  ],
  [
    {
      user: "Convert 5 km to miles and 5 kg to pounds",
      calls: [
        ["mcp_units_convert", { value: 5, from: "km" }],
        ["mcp_units_convert", { value: 5, from: "kg" }],
      ],
      answers: ["3.10", "11.02"],
    },
  ],
  [
    {
      user: "What time is it in Oslo, and what notes do I have?",
      calls: [["mcp_units_time_in", { place: "Oslo" }], ["mcp_notes_list_notes"]],
      answers: ["Oslo", "umbrella"],
    },
  ],
  [
    {
      user: "Read http://pages.test/tides",
      calls: [["web_fetch", { url: "http://pages.test/tides" }]],
      answers: ["High water is at 06:12"],
    },
  ],
  [
    {
      user: "What does http://pages.test/tides say?",
      calls: [["web_fetch", { url: "http://pages.test/tides" }]],
      answers: ["06:12"],
      never: ["external"],
    },
  ],
  [
    {
      user: "summarize http://pages.test/hostile",
      calls: [["web_fetch", { url: "http://pages.test/hostile" }]],
      answers: ["Cheap boats"],
    },
  ],
  [
    {
      user: "Fetch http://169.254.169.254/latest/meta-data",
      calls: [["web_fetch"]],
      answers: [/refused|not|cannot/i],
    },
  ],
  [{ user: "Hello", calls: [] }],
  [{ user: "What can you do?", calls: [] }],
  [{ user: "Who won the chess match yesterday?", calls: [], answers: [cannot] }],
  [{ user: "Book me a flight to Lisbon", calls: [], answers: [cannot] }],
  [{ user: "What is 5 euros in dollars?", answers: [/unknown|cannot|can't|no tool/i], never: [/\$\s?\d/] }],
  [
    {
      user: "note that the red bike is in the shed",
      calls: [["mcp_notes_add_note", { text: "the red bike is in the shed" }]],
    },
    {
      user: "where is the red bike?",
      calls: [["mcp_notes_search_notes", { query: "red bike" }]],
      answers: ["in the shed"],
      never: ["umbrella"],
    },
  ],
  [{ user: "Remember the milk", calls: [["mcp_notes_add_note"]], answers: ["milk"] }],
  [{ user: "remember to feed the hens", calls: [["mcp_notes_add_note", { text: "feed the hens" }]] }],
  [
    {
      user: "what's the time in New York right now",
      calls: [["mcp_units_time_in"]],
      answers: ["In New York it is"],
    },
  ],
  // The answer says that the web was not searched.
  [
    {
      user: "search google for cheap flights",
      answers: [/only the notes were searched|cannot/i],
      never: ["no such notes"],
    },
  ],
  [
    { user: "note that the roof is to be painted green" },
    // Deleted or not, the answer names the note and claims nothing that did not happen.
    { user: "delete the note about the roof", answers: ["painted green", /deleted note|not done/i] },
  ],
  [{ user: "delete note number 1", calls: [["mcp_notes_delete_note", { id: 1 }]], answers: ["umbrella"] }],
];
