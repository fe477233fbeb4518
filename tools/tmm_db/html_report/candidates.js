// Shows the candidates that were tried for one shape: predicted against measured times, coloured by outcome. Where nothing is predicted,
// they are in order of time.
"use strict";

const kOutcomeStyles = {
  winner: { color: 2, pointStyle: "star", pointRadius: 9, borderWidth: 2.5 },
  ok: { color: 0, pointStyle: "circle" },
  compile_failed: { color: 7, pointStyle: "cross", borderWidth: 2 },
  exceeds_limits: { color: 6, pointStyle: "rect" },
  spills: { color: 4, pointStyle: "triangle" },
  launch_failed: { color: 3, pointStyle: "rectRot" },
  crashed: { color: 5, pointStyle: "crossRot", borderWidth: 2 },
  timed_out: { color: 1, pointStyle: "dash", pointRadius: 6, borderWidth: 2.5 },
  wrong_result: { color: 5, pointStyle: "rectRounded" },
  inaccurate: { color: 1, pointStyle: "triangle" },
};

function outcomeSeries(outcome, points) {
  const { color, ...style } = kOutcomeStyles[outcome] ?? { color: 7, pointStyle: "circle" };
  const stroke = seriesColor(color);
  // Many points of one outcome lie upon each other: their insides let others shine through.
  const fill = outcome === "winner" ? stroke : `${stroke}80`;
  const common = { pointRadius: 4, pointHoverRadius: 7, borderWidth: 1 };
  return { label: outcome, data: points, backgroundColor: fill, borderColor: stroke, ...common, ...style };
}

// The configs of the group's candidates that won: one for each compute mode.
function winningConfigs(group) {
  return new Set(winners.filter((row) => row.group === groups.indexOf(group)).map((row) => row.config));
}

function guide(points, text) {
  return {
    type: "line",
    data: points,
    label: text,
    endLabel: { text, at: 1, side: "above" },
    borderColor: themeColor("muted"),
    borderWidth: 1,
    borderDash: [5, 4],
    pointRadius: 0,
    pointHitRadius: 0,
    isRoof: true,
  };
}

function candidateTooltip() {
  return {
    filter: (item) => !item.dataset.isRoof,
    callbacks: {
      title: (items) => (items[0] ? configText(items[0].raw.row.config) : ""),
      label(item) {
        const { us, predicted, reason } = item.raw.row;
        const times = [us > 0 ? `measured ${shortNumber(us)} µs` : "not timed", predicted > 0 ? `predicted ${shortNumber(predicted)} µs` : ""];
        return [item.dataset.label, times.filter(Boolean).join(", "), reason].filter(Boolean);
      },
    },
  };
}

// Groups the points by outcome. The winner is drawn last, upon the others.
function candidateSeries(rows, won, x, y) {
  const series = new Map();
  for (const row of rows) {
    const outcome = row.outcome === "ok" && won.has(row.config) ? "winner" : row.outcome;
    if (!series.has(outcome)) series.set(outcome, []);
    series.get(outcome).push({ x: x(row), y: y(row), row });
  }
  return [...series].sort((a, b) => (a[0] === "winner") - (b[0] === "winner")).map(([outcome, points]) => outcomeSeries(outcome, points));
}

// A logarithmic range of the values; points without a value stand on a line at its lower end, `at`.
function rangeWithUnknown(values) {
  const range = logRange(values);
  const unknown = values.some((value) => !(value > 0));
  const at = range.min / 1.15;
  if (unknown) range.min /= 1.4;
  return { range, unknown, at };
}

function placeAxis(count) {
  const muted = themeColor("muted");
  return {
    type: "linear",
    min: 0,
    max: count + 1,
    title: { display: true, text: "place, the fastest first", color: muted },
    grid: { color: themeColor("line") },
    ticks: { color: muted, precision: 0 },
  };
}

function candidateGuides(xs, ys, predicts, xRange) {
  const guides = [];
  if (ys.unknown) guides.push(guide([{ x: xRange.min, y: ys.at }, { x: xRange.max, y: ys.at }], "not timed"));
  if (!predicts) return guides;
  if (xs.unknown) guides.push(guide([{ x: xs.at, y: ys.range.min }, { x: xs.at, y: ys.range.max }], "not predicted"));
  const [from, to] = [Math.max(xRange.min, ys.range.min), Math.min(xRange.max, ys.range.max)];
  if (from < to) guides.push(guide([{ x: from, y: from }, { x: to, y: to }], "as predicted"));
  return guides;
}

function drawCandidates(group, rows) {
  const predicts = rows.some((row) => row.predicted > 0);
  const ys = rangeWithUnknown(rows.map((row) => row.us));
  const xs = rangeWithUnknown(rows.map((row) => row.predicted));
  const xRange = predicts ? xs.range : { min: 0, max: rows.length + 1 };
  const places = new Map(rows.map((row, place) => [row, place + 1]));
  const x = (row) => (predicts ? row.predicted || xs.at : places.get(row));
  const y = (row) => row.us || ys.at;
  drawChart("tried", {
    type: "scatter",
    plugins: [endLabels],
    data: { datasets: [...candidateGuides(xs, ys, predicts, xRange), ...candidateSeries(rows, winningConfigs(group), x, y)] },
    options: {
      scales: { x: predicts ? logAxis("predicted µs", xRange) : placeAxis(rows.length), y: logAxis("measured µs", ys.range) },
      plugins: { legend: legendWithoutRoofs(), tooltip: candidateTooltip() },
    },
  });
}

function countsText(rows) {
  const counts = new Map();
  for (const { outcome } of rows) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(", ");
}

// Says how well the prediction chose.
function choiceText(rows) {
  const timed = rows.filter((row) => row.outcome === "ok" && row.us > 0 && row.predicted > 0);
  if (timed.length < 2) return "";
  const first = timed.reduce((best, row) => (row.predicted < best.predicted ? row : best));
  const fastest = extremesOf(timed.map((row) => row.us)).lowest;
  return ` What was predicted to be the fastest took ${(first.us / fastest).toFixed(2)} times as long as what was.`;
}

function triedNote(group, rows) {
  const notes = [];
  if (group.rows < group.measured) {
    notes.push(`Of ${group.measured} candidates the page holds ${group.rows}: the fastest, and a sample of the others.`);
  }
  const predicted = rows.filter((row) => row.predicted > 0).length;
  if (predicted === 0) notes.push("Nothing is predicted of these candidates.");
  else notes.push("Predictions are those of the tmm that made this page.");
  if (predicted > 0 && predicted < rows.length) {
    notes.push(`Nothing is predicted of ${rows.length - predicted}, which it would not run here.`);
  }
  return notes.join(" ");
}

// own: the groups of the device. Returns a function that chooses a group, for other charts.
function showCandidates(own) {
  const section = document.getElementById("tried-section");
  section.hidden = own.length === 0;
  const choice = document.getElementById("tried-shape");
  const sorted = [...own].sort((x, y) => compare(x.problem.shape, y.problem.shape));
  offer(choice, sorted.map((group) => ({ value: groups.indexOf(group), text: `${group.problem.shape} (${group.measured})` })));
  const draw = () => {
    const group = groups[Number(choice.value)];
    const rows = candidatesOf(group);
    drawCandidates(group, rows);
    setText("tried-text", `Each point is a candidate: ${countsText(rows)}.${choiceText(rows)}`);
    setText("tried-note", triedNote(group, rows));
  };
  choice.onchange = draw;
  if (own.length) draw();
  return (place) => {
    choice.value = String(place);
    draw();
    section.scrollIntoView();
  };
}
