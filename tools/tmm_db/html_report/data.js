// Reads the columns that tmm-db wrote into the page (report_columns.cpp), and answers with rows.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);

// Turns columns of equal length into rows: {us: [1, 2]} into [{us: 1}, {us: 2}].
function rowsOf(columns) {
  const names = Object.keys(columns);
  const count = names.length ? columns[names[0]].length : 0;
  return Array.from({ length: count }, (_, i) => Object.fromEntries(names.map((name) => [name, columns[name][i]])));
}

const problems = rowsOf(data.problems);
const winners = rowsOf(data.winners).map((row) => ({ ...row, problem: problems[row.problem] }));
const failures = rowsOf(data.failures).map((row) => ({ ...row, problem: problems[row.problem] }));

// `first`: where the group's candidates begin in the columns of data.candidates.
const groups = rowsOf(data.groups);
groups.reduce((first, group) => {
  group.first = first;
  group.problem = problems[group.problem];
  return first + group.rows;
}, 0);

// Each config's words stand in as many digits to the base 36.
const configs = data.configs.text.split(" ");

function configText(place) {
  const words = configs[place].match(new RegExp(`.{${data.configs.digits}}`, "g")) ?? [];
  return words.map((digits) => data.words[parseInt(digits, 36)]).join(" ");
}

function candidatesOf(group) {
  const column = (name) => data.candidates[name].slice(group.first, group.first + group.rows);
  const [config, outcome, us, predicted, reason] = ["config", "outcome", "us", "predicted", "reason"].map(column);
  return config.map((_, i) => ({
    config: config[i],
    outcome: data.outcomes[outcome[i]],
    us: us[i],
    predicted: predicted[i],
    reason: data.reasons[reason[i]],
  }));
}

// TFLOP/s, and FLOP for each byte of A, B and C that has to move once.
function tflops(problem, us) {
  return us > 0 ? (problem.mflop / us) : 0;
}
function intensity(problem) {
  return problem.mflop / problem.mbytes;
}

// The classes of types that the rows have, as choices: the one with the most rows first.
function classesOf(rows) {
  const counts = new Map();
  for (const { problem } of rows) counts.set(problem.class, (counts.get(problem.class) ?? 0) + 1);
  return [...counts].sort((x, y) => y[1] - x[1]).map(([value]) => ({ value, text: data.classes[value].name }));
}
