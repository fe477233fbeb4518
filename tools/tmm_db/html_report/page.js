// Shows one device at a time, and draws all of it anew where the device or the colour scheme changes.
"use strict";

// Some names stand for several chips.
function deviceName({ name, sms }) {
  return data.devices.filter((other) => other.name === name).length > 1 ? `${name}, ${sms} SMs` : name;
}

function deviceFacts(device, own) {
  if (device.emulated) return `Emulated on the CPU: kernels run as C++ there, so that they can be tested without a GPU. ${own} winners.`;
  const watts = device.watts > 0 ? `, power limit ${device.watts} W` : "";
  return `Compute capability ${device.capability}, ${device.sms} SMs${watts}. ${own} winners. Times are medians of device time, the operands out of the L2 cache.`;
}

// The default config's time over the winner's, from one run-off; 0 where it was not in it.
function versusDefault(row) {
  return row.us > 0 ? row.default_us / row.us : 0;
}

function winnerColumns(device) {
  const number = (head, value, text = (row) => shortNumber(value(row))) => ({ head, value, text, kind: "number" });
  const word = (head, text, kind) => ({ head, value: text, text, kind });
  return [
    word("shape", (row) => row.problem.shape, "shape"),
    number("µs", (row) => row.us),
    ...(device.emulated ? [] : [number("TFLOP/s", (row) => tflops(row.problem, row.us))]),
    number("vs default", versusDefault, (row) => (versusDefault(row) > 0 ? versusDefault(row).toFixed(2) : "-")),
    word("config", (row) => configText(row.config), "code"),
    number("candidates", (row) => row.candidates, (row) => String(row.candidates)),
    number("error / bound", (row) => row.error, (row) => (row.error === 0 ? "0" : shortNumber(row.error))),
    word("origin", (row) => row.origin),
    { ...word("why", (row) => data.reasons[row.reason]), folded: "why" },
  ];
}

const kFailureColumns = [
  { head: "count", value: (row) => row.count, text: (row) => String(row.count), kind: "number" },
  ...[
    ["outcome", (row) => row.outcome],
    ["family", (row) => row.family],
    ["reason", (row) => data.reasons[row.reason], "long"],
    ["for example", (row) => row.problem.shape, "shape"],
    ["config", (row) => configText(row.config), "code"],
  ].map(([head, text, kind]) => ({ head, value: text, text, kind })),
];

function failuresText(own) {
  if (own.length === 0) return "No candidate failed.";
  const total = own.reduce((sum, row) => sum + row.count, 0);
  const cut = data.failure_kinds > failures.length ? ` The page holds the ${failures.length} most frequent of ${data.failure_kinds} kinds.` : "";
  return `${total} candidates failed. Those whose reasons differ in numbers only are one row, with one of them as an example.${cut}`;
}

// The rows of the device.
function ownRows(place) {
  const ofDevice = (rows) => rows.filter((row) => row.device === place);
  return { winners: ofDevice(winners), groups: ofDevice(groups), failures: ofDevice(failures) };
}

function showCharts(device, own) {
  const timed = own.winners.filter((row) => row.us > 0 && row.problem.mflop > 0);
  const choose = showCandidates(own.groups);
  for (const id of ["roofline-section", "heat-section"]) document.getElementById(id).hidden = timed.length === 0;
  if (timed.length === 0) return;
  showRoofline(device, timed, (row) => row.group >= 0 && choose(row.group));
  showHeatMap(device, timed);
}

function showTables(device, own) {
  setText("device-facts", deviceFacts(device, own.winners.length));
  setText("failures-text", failuresText(own.failures));
  document.getElementById("winners-section").hidden = own.winners.length === 0;
  document.getElementById("failures").hidden = own.failures.length === 0;
  new SortedTable(document.getElementById("winners"), winnerColumns(device), own.winners, "winners");
  new SortedTable(document.getElementById("failures"), kFailureColumns, own.failures, "failures");
}

function start() {
  setText("made", `Made ${data.made}`);
  const choice = document.getElementById("device");
  const choices = data.devices.map((device, value) => ({ value, text: deviceName(device), emulated: device.emulated }));
  offer(choice, [...choices].sort((x, y) => x.emulated - y.emulated));
  document.getElementById("device-choice").hidden = data.devices.length === 0;
  document.getElementById("nothing").hidden = data.devices.length > 0;
  if (data.devices.length === 0) {
    for (const section of document.querySelectorAll("section")) section.hidden = true;
    return;
  }
  const place = () => Number(choice.value);
  const drawCharts = () => showCharts(data.devices[place()], ownRows(place()));
  const show = () => {
    showTables(data.devices[place()], ownRows(place()));
    drawCharts();
  };
  choice.onchange = show;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawCharts);
  show();
}

start();
