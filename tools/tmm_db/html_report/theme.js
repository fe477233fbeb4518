// Functions that the charts share: colours of the page's style sheet, numbers as text, logarithmic axes, and drawing anew.
"use strict";

function themeColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

function seriesColor(index) {
  return themeColor("series-" + (1 + (index % 8)));
}

// Four digits, without an exponent: "0.1234", "12.34", "123400".
function shortNumber(value) {
  if (!(value > 0)) return "-";
  const digits = 3 - Math.floor(Math.log10(value));
  return value.toFixed(Math.min(9, Math.max(0, digits)));
}

// The number without zeros at the end, for axes and labels.
function roundNumber(value) {
  return String(Number(value.toPrecision(3)));
}

// Round numbers at equal distances, about five, of a range that spans little.
function evenTicks({ min, max }) {
  const rough = (max - min) / 5;
  const decade = 10 ** Math.floor(Math.log10(rough));
  const step = decade * [1, 2, 5, 10].find((digit) => digit * decade >= rough);
  const ticks = [];
  for (let place = Math.ceil(min / step); place * step <= max; place += 1) ticks.push({ value: Number((place * step).toPrecision(12)) });
  return ticks;
}

// Ticks at 1, 2 and 5 of each decade; where an axis spans many, at 1 only.
function logAxis(title, range) {
  const span = range.max / range.min;
  const digits = span > 1000 ? [1] : [1, 2, 5];
  const isRound = (value) => digits.includes(Number((value / 10 ** Math.floor(Math.log10(value) + 1e-9)).toPrecision(6)));
  return {
    type: "logarithmic",
    min: range.min,
    max: range.max,
    title: { display: true, text: title, color: themeColor("muted") },
    grid: { color: themeColor("line") },
    afterBuildTicks(axis) {
      if (span < 6) axis.ticks = evenTicks(range);
    },
    ticks: {
      color: themeColor("muted"),
      maxRotation: 0,
      autoSkip: false,
      callback: (value) => (span < 6 || isRound(value) ? roundNumber(value) : ""),
    },
  };
}

// A function takes some 100,000 arguments at most, and there may be more values.
function extremesOf(values) {
  return values.reduce(
    ({ lowest, highest }, value) => ({ lowest: Math.min(lowest, value), highest: Math.max(highest, value) }),
    { lowest: Infinity, highest: -Infinity },
  );
}

// The values' range with some room around it.
function logRange(values, room = 1.3) {
  const known = values.filter((value) => value > 0);
  if (known.length === 0) return { min: 1, max: 10 };
  const { lowest, highest } = extremesOf(known);
  return { min: lowest / room, max: highest * room };
}

// Replaces what the canvas shows.
function drawChart(canvasId, config) {
  const canvas = document.getElementById(canvasId);
  const earlier = Chart.getChart(canvas);
  if (earlier) earlier.destroy();
  config.options = {
    animation: false,
    responsive: true,
    maintainAspectRatio: false,
    ...config.options,
  };
  Chart.defaults.color = themeColor("text");
  return new Chart(canvas, config);
}

const kLabelHeight = 15;

// Writes the `endLabel` of lines, {text, at, side}, at that of its points: to the "left" of it, or "above" it where it is the right end.
// Labels that would cover each other are moved down.
const endLabels = {
  id: "endLabels",
  afterDatasetsDraw(chart) {
    const labels = chart.data.datasets
      .map((dataset, index) => ({ dataset, place: chart.getDatasetMeta(index).data[dataset.endLabel?.at], index }))
      .filter(({ place, index }) => place && chart.isDatasetVisible(index))
      .sort((x, y) => x.place.y - y.place.y);
    const { ctx } = chart;
    ctx.save();
    ctx.font = "12px system-ui, sans-serif";
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    let next = -Infinity;
    for (const { dataset, place } of labels) {
      const { text, side } = dataset.endLabel;
      const y = Math.max(next, side === "left" ? place.y : place.y - 8);
      next = y + kLabelHeight;
      ctx.fillStyle = dataset.borderColor;
      ctx.fillText(text, place.x - (side === "left" ? 24 : 4), y);
    }
    ctx.restore();
  },
};

// Fills a <select> with {value, text} and keeps the chosen value where it is still offered.
function offer(select, choices) {
  const chosen = select.value;
  select.replaceChildren(
    ...choices.map(({ value, text }) => {
      const option = document.createElement("option");
      option.value = value;
      option.textContent = text;
      return option;
    }),
  );
  if (choices.some(({ value }) => String(value) === chosen)) select.value = chosen;
}

function setText(id, text) {
  document.getElementById(id).textContent = text;
}
