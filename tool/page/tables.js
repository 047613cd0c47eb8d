// SPDX-License-Identifier: MIT
// page/tables.js -- the figures of packed_trace.cpp as tables

/// `columns` are pairs of a title and a function from a row to its text.
function makeTable(id, caption, columns, rows, onRow) {
  const table = document.createElement("table");
  table.id = id;
  table.createCaption().textContent = caption;
  const head = table.createTHead().insertRow();
  for (const [title] of columns) head.appendChild(document.createElement("th")).textContent = title;
  const body = table.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const [, text] of columns) line.insertCell().textContent = text(row);
    line.cells[0].title = row.name;
    if (onRow) line.onclick = () => onRow(row, line);
  }
  return table;
}

const unlessSerial = (text) => (each) => each.isSerial ? "-" : text(each);
const REGION_COLUMNS = [
  ["region", (each) => each.name], ["count", (each) => each.count], ["members", (each) => each.members],
  ["total", (each) => timeText(each.total)], ["of all", (each) => shareText(each.ofAll)],
  ["median", (each) => timeText(each.median)], ["worst", (each) => timeText(each.worst)],
  ["skew", unlessSerial((each) => timeText(each.medianSkew))],
  ["worst skew", unlessSerial((each) => timeText(each.worstSkew))],
  ["parallel", unlessSerial((each) => shareText(each.parallelShare))],
  ["lost waiting", unlessSerial((each) => timeText(each.lost))],
  ["share", unlessSerial((each) => shareText(each.lostShare))],
];
const TIME_COLUMNS = [
  ["", (each) => each.name], ["count", (each) => each.count], ["total", (each) => timeText(each.total)],
  ["median", (each) => timeText(each.median)], ["worst", (each) => timeText(each.worst)],
];
const THREAD_COLUMNS = [
  ["thread", (each) => each.name], ["computed", (each) => timeText(each.computed)],
  ["waited", (each) => timeText(each.waited)], ["serial", (each) => timeText(each.outside)], ["longest wait", (each) => timeText(each.longestWait)],
];
const DECISION_COLUMNS = [["mark", (each) => each.name], ["count", (each) => each.count]];

/// A click on a line of the table of regions calls onRegion(region).
function fillTables(section, model, onRegion) {
  const choose = (region, line) => {
    for (const other of line.parentNode.rows) other.classList.toggle("chosen", other === line);
    onRegion(region);
  };
  const tables = [
    ["regions", "regions, by their place: a click shows the longest run", REGION_COLUMNS, model.regions, choose],
    ["threads", "threads", THREAD_COLUMNS, model.threads],
    ["constructs", "constructs: how long members waited in them", TIME_COLUMNS, model.constructs],
    ["nodes", "nodes and named regions", TIME_COLUMNS, model.nodes],
    ["waits", "waits that were longer than a look", TIME_COLUMNS, model.waits],
    ["decisions", "marks", DECISION_COLUMNS, model.decisions],
  ];
  for (const table of tables) {
    if (table[3].length > 0) section.appendChild(makeTable(...table));
  }
}
