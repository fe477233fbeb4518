// Put into a report by test_html_report: uses the page as a reader would, and writes what it saw, a name, a tab and a value a line.
"use strict";

const lines = [];
function say(name, value) {
  lines.push(`${name}\t${value}`);
}

const byId = (id) => document.getElementById(id);
const canvases = ["roofline", "heat", "tried"];

// Pixels of a colour: axes, grids and texts are grey.
function colouredPixels(canvas) {
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [canvas.width, canvas.height];
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  const { data: bytes } = context.getImageData(0, 0, copy.width, copy.height);
  let count = 0;
  for (let i = 0; i < bytes.length; i += 4) {
    const chroma = Math.max(bytes[i], bytes[i + 1], bytes[i + 2]) - Math.min(bytes[i], bytes[i + 1], bytes[i + 2]);
    if (bytes[i + 3] > 0 && chroma > 40) count += 1;
  }
  return count;
}

function points(id) {
  return Chart.getChart(byId(id)).data.datasets.filter((set) => !set.isRoof).flatMap((set) => set.data.filter(Boolean)).length;
}

function sayCharts(prefix) {
  for (const id of canvases) {
    if (byId(id).closest("section").hidden) continue;
    say(`${prefix}.${id}.points`, points(id));
    say(`${prefix}.${id}.pixels`, colouredPixels(byId(id)));
    say(`${prefix}.${id}.width`, byId(id).width);
    say(`${prefix}.${id}.height`, byId(id).height);
  }
  if (byId("heat").closest("section").hidden) return;
  say(`${prefix}.heat.note`, byId("heat-note").textContent);
  const chart = Chart.getChart(byId("heat"));
  const dataIndex = chart.data.datasets[0].cells.findIndex(Boolean);
  const label = chart.options.plugins.tooltip.callbacks.label({ dataset: chart.data.datasets[0], dataIndex });
  say(`${prefix}.heat.tip`, label.join("|"));
}

function choose(id, text) {
  const select = byId(id);
  const option = [...select.options].find((each) => each.textContent.includes(text));
  select.value = option.value;
  select.dispatchEvent(new Event("change"));
}

function rows(id) {
  return [...byId(id).querySelectorAll("tbody tr")];
}

function column(id, head) {
  const place = [...byId(id).querySelectorAll("th")].findIndex((cell) => cell.textContent === head);
  return { press: () => byId(id).querySelectorAll("th button")[place].click(), texts: () => rows(id).map((row) => row.cells[place].textContent) };
}

function checkTable() {
  const us = column("winners", "µs");
  say("winners.rows", rows("winners").length);
  us.press();
  say("winners.ascending", us.texts().join(" "));
  say("winners.aria", byId("winners").querySelector("[aria-sort]").getAttribute("aria-sort"));
  us.press();
  say("winners.descending", us.texts().join(" "));
  say("winners.versus", [...new Set(column("winners", "vs default").texts())].join(" "));
  const filter = byId("winners").querySelector("input");
  filter.value = "F16 4096";
  filter.dispatchEvent(new Event("input"));
  say("winners.filtered", column("winners", "shape").texts().join("|"));
  say("winners.count", byId("winners").querySelector("[role=status]").textContent);
  filter.value = "";
  filter.dispatchEvent(new Event("input"));
}

// Presses a point of the roofline; Chart.js answers in the next frame.
async function pressPoint() {
  const chart = Chart.getChart(byId("roofline"));
  const set = chart.data.datasets.findIndex((each) => !each.isRoof && each.data.some(({ row }) => row.group >= 0));
  if (set < 0) return;
  const place = chart.data.datasets[set].data.findIndex(({ row }) => row.group >= 0);
  const { x, y } = chart.getDatasetMeta(set).data[place];
  const box = chart.canvas.getBoundingClientRect();
  chart.canvas.dispatchEvent(new MouseEvent("click", { clientX: box.left + x, clientY: box.top + y, bubbles: true }));
  await new Promise((done) => setTimeout(done, 200));
  say("pressed", chart.data.datasets[set].data[place].row.problem.shape);
  say("tried.shape", byId("tried-shape").selectedOptions[0].textContent);
}

function luminance(color) {
  const [red, green, blue] = color.match(/\d+/g).map(Number);
  return Math.round(0.299 * red + 0.587 * green + 0.114 * blue);
}

function checkPage() {
  say("background", luminance(getComputedStyle(document.body).backgroundColor));
  say("foreground", luminance(getComputedStyle(document.body).color));
  say("overflows", document.documentElement.scrollWidth > window.innerWidth);
  say("loads", document.querySelectorAll("[src], [href], img, iframe, object").length);
  say("devices", [...byId("device").options].map((option) => option.textContent).join("|"));
  for (const { textContent: name } of [...byId("device").options]) {
    choose("device", name);
    sayCharts(name);
    say(`${name}.title`, byId("roofline-title").textContent);
    const roofs = Chart.getChart(byId("roofline")).data.datasets.filter((set) => set.isRoof);
    say(`${name}.roofs`, roofs.map((set) => set.label).join("|"));
    say(`${name}.note`, byId("roofline-note").textContent);
    say(`${name}.tried`, byId("tried-text").textContent);
    say(`${name}.tried.note`, byId("tried-note").textContent);
    say(`${name}.failures`, rows("failures").map((row) => [...row.cells].map((cell) => cell.textContent).join(";")).join("|"));
    say(`${name}.why`, column("winners", "why").texts().join("|"));
    say(`${name}.tflops`, document.querySelector("main").innerText.includes("TFLOP/s"));
  }
  choose("device", "NVIDIA H200");
  checkTable();
}

async function check() {
  try {
    checkPage();
    await pressPoint();
  } catch (error) {
    say("exception", error.stack);
  }
  say("hacked", window.hacked === undefined ? "no" : "yes");
  window.pageFaults.forEach((fault) => say("fault", fault));
  const result = document.createElement("pre");
  result.textContent = `\nCHECK\n${lines.map((line) => line.replaceAll("\n", " ")).join("\n")}\nEND\n`;
  document.body.append(result);
}

check();
