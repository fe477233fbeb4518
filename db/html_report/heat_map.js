// Shows winners over M and N for one K: a cell for each pair, coloured and labelled by speed or time.
"use strict";

const kCellHeight = 26;
const kCellWidth = 54;
const kWidestCell = 140;

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

// Returns for each pair of M and N the best value, and all rows behind it.
function cellsOf(rows, measure) {
  const cells = new Map();
  for (const row of rows) {
    const key = `${row.problem.m} ${row.problem.n}`;
    if (!cells.has(key)) cells.set(key, { m: row.problem.m, n: row.problem.n, rows: [] });
    cells.get(key).rows.push(row);
  }
  for (const cell of cells.values()) {
    const values = cell.rows.map(measure.value);
    cell.value = measure.least ? Math.min(...values) : Math.max(...values);
  }
  return [...cells.values()];
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
function heatSeries(cells, ms, ns) {
  const values = cells.map((cell) => cell.value);
  const [lowest, highest] = [Math.min(...values), Math.max(...values)];
  for (const cell of cells) cell.color = heatColor(highest > lowest ? Math.log(cell.value / lowest) / Math.log(highest / lowest) : 0.5);
  return ms.map((m, place) => {
    const row = ns.map((n) => cells.find((cell) => cell.m === m && cell.n === n));
    return {
      label: `M = ${m}`,
      data: row.map((cell) => (cell ? [place - 0.5, place + 0.5] : null)),
      cells: row,
      backgroundColor: row.map((cell) => (cell ? `rgb(${cell.color.join(", ")})` : "transparent")),
      borderColor: themeColor("card"),
      borderWidth: 1,
      borderSkipped: false,
      grouped: false,
      barPercentage: 1,
      categoryPercentage: 1,
    };
  });
}

function heatTooltip(emulated) {
  const line = (row) =>
    `${row.problem.shape}: ${shortNumber(row.us)} µs${emulated ? "" : `, ${shortNumber(tflops(row.problem, row.us))} TFLOP/s`}`;
  return {
    callbacks: {
      title: () => "",
      label: (item) => item.dataset.cells[item.dataIndex].rows.flatMap((row) => [line(row), `  ${configText(row.config)}`]),
    },
  };
}

function drawHeatMap(rows, measure, emulated) {
  const ascending = (name) => [...new Set(rows.map((row) => row.problem[name]))].sort((x, y) => x - y);
  const [ms, ns] = [ascending("m"), ascending("n")];
  const cells = cellsOf(rows, measure);
  const box = document.getElementById("heat-box");
  box.style.height = `${ms.length * kCellHeight + 70}px`;
  box.style.minWidth = `${ns.length * kCellWidth + 80}px`;
  box.style.maxWidth = `${ns.length * kWidestCell + 80}px`;
  const muted = themeColor("muted");
  drawChart("heat", {
    type: "bar",
    plugins: [cellValues],
    data: { labels: ns.map(String), datasets: heatSeries(cells, ms, ns) },
    options: {
      scales: {
        x: { title: { display: true, text: "N", color: muted }, grid: { display: false }, ticks: { color: muted, autoSkip: false, maxRotation: 0 } },
        y: {
          min: -0.5,
          max: ms.length - 0.5,
          title: { display: true, text: "M", color: muted },
          grid: { display: false },
          afterBuildTicks: (axis) => (axis.ticks = ms.map((_, place) => ({ value: place }))),
          ticks: { color: muted, autoSkip: false, callback: (place) => String(ms[place]) },
        },
      },
      plugins: { legend: { display: false }, tooltip: heatTooltip(emulated) },
    },
  });
  const values = cells.map((cell) => cell.value);
  return `From ${roundNumber(Math.min(...values))} to ${roundNumber(Math.max(...values))} ${measure.text}, coloured by the logarithm.`;
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
