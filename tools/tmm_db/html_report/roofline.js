// Shows each winner's speed against the FLOP that it does for a byte moved, under the device's roofs. The emulated device has no roof, and
// its times are drawn against the work.
"use strict";

const kArithmeticNames = { ffma: "FFMA", tf32: "TF32", f16: "FP16", bf16: "BF16", f64: "FP64" };

// Did the row's kernel multiply by this arithmetic? FP32 that is split into 16-bit planes has no FFMA.
function multipliesBy(row, arithmetic) {
  return data.classes[row.problem.class].arithmetic === arithmetic && (arithmetic !== "ffma" || row.planes === 1);
}

// The roofs that apply to the rows: {read: TB/s, tflops: {arithmetic: TFLOP/s}, measured: the roofs that were measured and are not merely
// the best achieved}.
function roofsOf(device, rows) {
  const best = (values) => extremesOf(values).highest;
  const roofs = { tflops: {}, measured: { read: device.ceilings !== null, tflops: {} } };
  roofs.read = device.ceilings ? device.ceilings.read_gb_s / 1000 : best(rows.map((row) => row.problem.mbytes / row.us));
  for (const arithmetic of new Set(rows.map((row) => data.classes[row.problem.class].arithmetic))) {
    const ceiling = device.ceilings?.tflops[arithmetic];
    const own = rows.filter((row) => multipliesBy(row, arithmetic));
    if (ceiling === undefined && own.length === 0) continue;
    roofs.measured.tflops[arithmetic] = ceiling !== undefined;
    roofs.tflops[arithmetic] = ceiling ?? best(own.map((row) => tflops(row.problem, row.us)));
  }
  return roofs;
}

// Labels stand left of the roofs, where no winner can be.
function roofLine(points, text, at, measured) {
  return {
    type: "line",
    data: points,
    label: text,
    endLabel: { text, at, side: "left" },
    borderColor: themeColor("muted"),
    borderWidth: 1.5,
    borderDash: measured ? [] : [5, 4],
    pointRadius: 0,
    pointHitRadius: 0,
    isRoof: true,
  };
}

// The slope of memory from `range.min`, where it enters the chart, and the roofs from their ridges to `range.max`.
function roofLines(roofs, range) {
  const { read, measured } = roofs;
  const end = Object.keys(roofs.tflops).length ? Math.max(...Object.values(roofs.tflops)) / read : range.max;
  const slope = [range.min, Math.sqrt(range.min * end), end].map((x) => ({ x, y: read * x }));
  const lines = [roofLine(slope, `${measured.read ? "reads" : "best here"} ${roundNumber(read)} TB/s`, 1, measured.read)];
  for (const [arithmetic, roof] of Object.entries(roofs.tflops)) {
    const name = `${kArithmeticNames[arithmetic]}${measured.tflops[arithmetic] ? "" : ", best here"} ${roundNumber(roof)} TFLOP/s`;
    const ridge = Math.min(roof / read, range.max);
    lines.push(roofLine([{ x: ridge, y: roof }, { x: range.max, y: roof }], name, 0, measured.tflops[arithmetic]));
  }
  return lines;
}

// A series of points for each class of types.
function classSeries(rows, x, y) {
  return classesOf(rows).map(({ value, text }) => ({
    label: text,
    data: rows.filter((row) => row.problem.class === value).map((row) => ({ x: x(row), y: y(row), row })),
    backgroundColor: seriesColor(value),
    borderColor: seriesColor(value),
    pointRadius: 3.5,
    pointHoverRadius: 6,
  }));
}

function pointTooltip(lines) {
  return {
    filter: (item) => !item.dataset.isRoof,
    callbacks: { title: (items) => items[0]?.raw.row?.problem?.shape ?? "", label: (item) => lines(item.raw.row) },
  };
}

function legendWithoutRoofs() {
  return {
    position: "bottom",
    labels: { usePointStyle: true, filter: (item, chart) => !chart.datasets[item.datasetIndex].isRoof },
  };
}

function drawRoofline(device, rows, onChoice) {
  const roofs = roofsOf(device, rows);
  const speeds = rows.map((row) => tflops(row.problem, row.us));
  const xRange = logRange([...rows.map((row) => intensity(row.problem)), ...Object.values(roofs.tflops).map((roof) => roof / roofs.read)], 1.6);
  const yRange = logRange([...speeds, ...Object.values(roofs.tflops)], 1.6);
  const shown = { min: Math.max(xRange.min, yRange.min / roofs.read), max: xRange.max };
  drawChart("roofline", {
    type: "scatter",
    plugins: [endLabels],
    data: {
      datasets: [...classSeries(rows, (row) => intensity(row.problem), (row) => tflops(row.problem, row.us)), ...roofLines(roofs, shown)],
    },
    options: {
      scales: { x: logAxis("FLOP for a byte of A, B and C", xRange), y: logAxis("TFLOP/s", yRange) },
      plugins: {
        legend: legendWithoutRoofs(),
        tooltip: pointTooltip((row) => [
          configText(row.config),
          `${shortNumber(row.us)} µs, ${shortNumber(tflops(row.problem, row.us))} TFLOP/s, ${roundNumber(intensity(row.problem))} FLOP/byte`,
        ]),
      },
      onClick: (_, items, chart) => choosePoint(items, chart, onChoice),
    },
  });
  setText("roofline-note", rooflineNote(device, roofs));
}

function drawTimes(rows, onChoice) {
  const work = (row) => row.problem.mflop;
  drawChart("roofline", {
    type: "scatter",
    data: { datasets: classSeries(rows, work, (row) => row.us) },
    options: {
      scales: { x: logAxis("million FLOP", logRange(rows.map(work))), y: logAxis("µs", logRange(rows.map((row) => row.us))) },
      plugins: {
        legend: legendWithoutRoofs(),
        tooltip: pointTooltip((row) => [configText(row.config), `${shortNumber(row.us)} µs`]),
      },
      onClick: (_, items, chart) => choosePoint(items, chart, onChoice),
    },
  });
}

function choosePoint(items, chart, onChoice) {
  const item = items.find(({ datasetIndex }) => !chart.data.datasets[datasetIndex].isRoof);
  if (item) onChoice(chart.data.datasets[item.datasetIndex].data[item.index].row);
}

function rooflineNote(device, roofs) {
  if (!device.ceilings) {
    return "No ceiling was measured for this device: the dashed lines are the best that a winner here reaches, not what the device can do.";
  }
  const all = Object.values(roofs.measured.tflops).every(Boolean);
  return `Ceilings: ${device.ceilings.source}.${all ? "" : " Dashed lines are the best that a winner here reaches: no ceiling was measured."}`;
}

function rooflineText(device) {
  if (device.emulated) {
    return "Each point is a winner. The emulated device runs on the CPU: its times say nothing about a GPU, and it has no roofline.";
  }
  return (
    "Each point is a winner. Left of a ridge the device's memory bounds it, right of it the multiplying units, and far below both its size: " +
    "too few blocks, or a kernel's launch. FP32 points above FFMA multiply 16-bit parts on tensor cores. Press a point for what was tried."
  );
}

// rows: the winners of the device that have a time.
function showRoofline(device, rows, onChoice) {
  setText("roofline-title", device.emulated ? "Time against work" : "Roofline");
  setText("roofline-text", rooflineText(device));
  const choice = document.getElementById("roofline-class");
  offer(choice, [{ value: "all", text: "all" }, ...classesOf(rows)]);
  const draw = () => {
    const chosen = choice.value === "all" ? rows : rows.filter((row) => String(row.problem.class) === choice.value);
    setText("roofline-note", "");
    if (device.emulated) drawTimes(chosen, onChoice);
    else drawRoofline(device, chosen, onChoice);
  };
  choice.onchange = draw;
  draw();
}
