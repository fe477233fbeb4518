// Shows winners over M and N for one K: a cell for each pair, coloured and labelled by speed or time. Where there are many sizes, neighbours
// share a row or a column: browsers draw nothing on a canvas of more than some 10,000 pixels.
"use strict";

const kCellHeight = 26;
const kCellWidth = 54;
const kWidestCell = 140;
const kDigitWidth = 7;
const kMostRows = 100;
const kMostColumns = 40;
const kMostTooltipShapes = 8;

function channels(color) {
  const value = parseInt(color.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

// share: 0 for the lowest value, 1 for the highest.
function heatColor(share) {
  const low = channels(themeColor("heat-low"));
  const high = channels(themeColor("heat-high"));
  return low.map((channel, i) => Math.round(channel + share * (high[i] - channel)));
}

function textColorOn([red, green, blue]) {
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#111111" : "#f5f5f5";
}

// The sizes of an axis in their order, in as many groups as it has room for: {text, sizes}.
function axisGroups(rows, name, most) {
  const sizes = [...new Set(rows.map((row) => row.problem[name]))].sort((x, y) => x - y);
  const count = Math.min(sizes.length, most);
  const begin = (i) => Math.floor((i * sizes.length) / count);
  return Array.from({ length: count }, (_, i) => {
    const group = sizes.slice(begin(i), begin(i + 1));
    return { sizes: group, text: group.length === 1 ? String(group[0]) : `${group[0]}–${group[group.length - 1]}` };
  });
}

function placesOf(groups) {
  return new Map(groups.flatMap(({ sizes }, place) => sizes.map((size) => [size, place])));
}

// Returns the cells by row and column of the groups: the best value of each, and all winners behind it.
function cellsOf(rows, measure, ms, ns) {
  const [rowOf, columnOf] = [placesOf(ms), placesOf(ns)];
  const cells = ms.map(() => ns.map(() => null));
  for (const row of rows) {
    const line = cells[rowOf.get(row.problem.m)];
    const place = columnOf.get(row.problem.n);
    const value = measure.value(row);
    if (!line[place]) line[place] = { value, rows: [] };
    line[place].rows.push(row);
    line[place].value = measure.least ? Math.min(line[place].value, value) : Math.max(line[place].value, value);
  }
  return cells;
}

const kMeasures = {
  tflops: { text: "TFLOP/s", value: (row) => tflops(row.problem, row.us), least: false },
  us: { text: "µs", value: (row) => row.us, least: true },
};

// Writes each cell's value into it where it fits.
const cellValues = {
  id: "cellValues",
  afterDatasetsDraw(chart) {
    const { ctx } = chart;
    ctx.save();
    ctx.font = "11px system-ui, sans-serif";
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    chart.data.datasets.forEach((dataset, index) => {
      chart.getDatasetMeta(index).data.forEach((bar, i) => {
        const cell = dataset.cells[i];
        if (!cell) return;
        const text = roundNumber(cell.value);
        if (ctx.measureText(text).width > bar.width - 4) return;
        ctx.fillStyle = textColorOn(cell.color);
        ctx.fillText(text, bar.x, (bar.y + bar.base) / 2);
      });
    });
    ctx.restore();
  },
};

// A row of the map is a series of bars that float between its edges.
function heatSeries(cells, ms) {
  const filled = cells.flat().filter(Boolean);
  const { lowest, highest } = extremesOf(filled.map((cell) => cell.value));
  for (const cell of filled) cell.color = heatColor(highest > lowest ? Math.log(cell.value / lowest) / Math.log(highest / lowest) : 0.5);
  return cells.map((row, place) => ({
    label: `M = ${ms[place].text}`,
    data: row.map((cell) => (cell ? [place - 0.5, place + 0.5] : null)),
    cells: row,
    backgroundColor: row.map((cell) => (cell ? `rgb(${cell.color.join(", ")})` : "transparent")),
    borderColor: themeColor("card"),
    borderWidth: 1,
    borderSkipped: false,
    grouped: false,
    barPercentage: 1,
    categoryPercentage: 1,
  }));
}

function heatTooltip(emulated) {
  const line = (row) =>
    `${row.problem.shape}: ${shortNumber(row.us)} µs${emulated ? "" : `, ${shortNumber(tflops(row.problem, row.us))} TFLOP/s`}`;
  const lines = ({ rows }) => {
    const shown = rows.slice(0, kMostTooltipShapes).flatMap((row) => [line(row), `  ${configText(row.config)}`]);
    return rows.length > kMostTooltipShapes ? [...shown, `and ${rows.length - kMostTooltipShapes} more`] : shown;
  };
  return { callbacks: { title: () => "", label: (item) => lines(item.dataset.cells[item.dataIndex]) } };
}

// What the groups of an axis are, where sizes share them; empty where none do.
function groupsText(groups, name, what) {
  const sizes = groups.reduce((sum, group) => sum + group.sizes.length, 0);
  return sizes > groups.length ? ` ${sizes} sizes of ${name} share ${groups.length} ${what}; a cell shows the best of its shapes.` : "";
}

function drawHeatMap(rows, measure, emulated) {
  const [ms, ns] = [axisGroups(rows, "m", kMostRows), axisGroups(rows, "n", kMostColumns)];
  const cells = cellsOf(rows, measure, ms, ns);
  const longest = (groups) => groups.reduce((length, { text }) => Math.max(length, text.length), 0);
  const margin = 40 + kDigitWidth * longest(ms);
  const cellWidth = Math.max(kCellWidth, kDigitWidth * (longest(ns) + 2));
  const box = document.getElementById("heat-box");
  box.style.height = `${ms.length * kCellHeight + 70}px`;
  box.style.minWidth = `${ns.length * cellWidth + margin}px`;
  box.style.maxWidth = `${ns.length * Math.max(kWidestCell, cellWidth) + margin}px`;
  const muted = themeColor("muted");
  drawChart("heat", {
    type: "bar",
    plugins: [cellValues],
    data: { labels: ns.map(({ text }) => text), datasets: heatSeries(cells, ms) },
    options: {
      scales: {
        x: { title: { display: true, text: "N", color: muted }, grid: { display: false }, ticks: { color: muted, autoSkip: false, maxRotation: 0 } },
        y: {
          min: -0.5,
          max: ms.length - 0.5,
          title: { display: true, text: "M", color: muted },
          grid: { display: false },
          afterBuildTicks: (axis) => (axis.ticks = ms.map((_, place) => ({ value: place }))),
          ticks: { color: muted, autoSkip: false, callback: (place) => ms[place].text },
        },
      },
      plugins: { legend: { display: false }, tooltip: heatTooltip(emulated) },
    },
  });
  const { lowest, highest } = extremesOf(cells.flat().filter(Boolean).map((cell) => cell.value));
  return (
    `From ${roundNumber(lowest)} to ${roundNumber(highest)} ${measure.text}, coloured by the logarithm.` +
    groupsText(ms, "M", "rows") +
    groupsText(ns, "N", "columns")
  );
}

// The K's of the rows, the one with the most pairs of M and N first.
function depthsOf(rows) {
  const pairs = new Map();
  for (const { problem } of rows) {
    if (!pairs.has(problem.k)) pairs.set(problem.k, new Set());
    pairs.get(problem.k).add(`${problem.m} ${problem.n}`);
  }
  return [...pairs]
    .sort((x, y) => y[1].size - x[1].size || x[0] - y[0])
    .map(([k, cells]) => ({ value: k, text: `${k} (${cells.size})` }));
}

// rows: the winners of the device that have a time.
function showHeatMap(device, rows) {
  setText(
    "heat-text",
    "The winner of each shape with this K, whatever its layout, batch and padding: where several shapes share a cell it shows the best, " +
      "and its tooltip has them all.",
  );
  const [ofClass, ofDepth, ofMeasure] = ["heat-class", "heat-k", "heat-measure"].map((id) => document.getElementById(id));
  const inClass = () => rows.filter((row) => String(row.problem.class) === ofClass.value);
  offer(ofClass, classesOf(rows));
  offer(ofMeasure, Object.entries(kMeasures).filter(([name]) => name === "us" || !device.emulated).map(([value, { text }]) => ({ value, text })));
  const draw = () => {
    const chosen = inClass().filter((row) => String(row.problem.k) === ofDepth.value);
    setText("heat-note", drawHeatMap(chosen, kMeasures[ofMeasure.value], device.emulated));
  };
  const offerDepths = () => {
    offer(ofDepth, depthsOf(inClass()));
    draw();
  };
  ofClass.onchange = offerDepths;
  ofDepth.onchange = draw;
  ofMeasure.onchange = draw;
  offerDepths();
}
