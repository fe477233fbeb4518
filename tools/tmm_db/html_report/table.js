// A table that sorts by the column whose head is pressed, and keeps the rows that hold every word of its filter.
"use strict";

const kRowsAtFirst = 500;

// columns: {head, value(row), text(row), kind: "number" | "code" | "long" | "shape"}. Numbers sort as numbers, the unknown last.
class SortedTable {
  constructor(parent, columns, rows, name) {
    this.columns = columns;
    this.rows = rows.map((row) => ({ row, words: columns.map((column) => column.text(row)).join(" ").toLowerCase() }));
    this.most = kRowsAtFirst;
    this.sorting = null;
    this.build(parent, name);
    this.show();
  }

  build(parent, name) {
    this.filter = document.createElement("input");
    this.filter.type = "search";
    this.filter.placeholder = "words that a row must hold";
    this.filter.setAttribute("aria-label", "Filter " + name);
    this.filter.addEventListener("input", () => this.show());
    this.count = document.createElement("span");
    this.count.setAttribute("role", "status");
    const controls = document.createElement("div");
    controls.className = "controls";
    controls.append(this.filter, this.count);

    const table = document.createElement("table");
    this.head = table.createTHead().insertRow();
    this.columns.forEach((column, index) => this.head.append(this.headCell(column, index)));
    this.body = table.createTBody();
    const scroll = document.createElement("div");
    scroll.className = "scroll";
    scroll.append(table);

    this.more = document.createElement("button");
    this.more.type = "button";
    this.more.addEventListener("click", () => {
      this.most = Infinity;
      this.show();
    });
    parent.replaceChildren(controls, scroll, this.more);
  }

  headCell(column, index) {
    const cell = document.createElement("th");
    cell.scope = "col";
    if (column.kind) cell.className = column.kind === "number" ? "number" : "";
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = column.head;
    button.addEventListener("click", () => this.sortBy(index));
    cell.append(button);
    return cell;
  }

  sortBy(index) {
    const descending = this.sorting?.index === index && !this.sorting.descending;
    this.sorting = { index, descending };
    const { value } = this.columns[index];
    this.rows.sort((x, y) => (descending ? compare(value(y.row), value(x.row)) : compare(value(x.row), value(y.row))));
    [...this.head.cells].forEach((cell, i) => {
      if (i === index) cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
    this.show();
  }

  show() {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const kept = this.rows.filter((entry) => words.every((word) => entry.words.includes(word)));
    this.body.replaceChildren(...kept.slice(0, this.most).map(({ row }) => this.bodyRow(row)));
    this.count.textContent = kept.length === this.rows.length ? `${kept.length}` : `${kept.length} of ${this.rows.length}`;
    this.more.hidden = kept.length <= this.most;
    this.more.textContent = `Show all ${kept.length}`;
  }

  bodyRow(row) {
    const line = document.createElement("tr");
    for (const column of this.columns) {
      const cell = line.insertCell();
      if (column.kind) cell.className = column.kind;
      if (column.folded && column.text(row)) cell.append(folded(column.folded, column.text(row)));
      else cell.textContent = column.text(row);
    }
    return line;
  }
}

function compare(x, y) {
  return typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
}

// Hides long text behind one word.
function folded(word, text) {
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  summary.textContent = word;
  details.append(summary, text);
  return details;
}
